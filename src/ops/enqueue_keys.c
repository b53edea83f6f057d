/* Which open tasks have the keys of new ones; see enqueue.h. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "ops/enqueue.h"
#include "store/record.h"

static int by_key(const void *left, const void *right) {
    const tp_new_task *a = *(tp_new_task *const *)left, *b = *(tp_new_task *const *)right;
    int order = strcmp(a->dedup_key, b->dedup_key);
    return order ? order : (a > b) - (a < b);
}

void tpi_enqueue_sort_by_key(tp_new_task **tasks, size_t count) {
    qsort(tasks, count, sizeof(tp_new_task *), by_key);
}

static size_t first_with(tp_new_task **tasks, size_t count, const char *key) {
    size_t low = 0;
    while (count) {
        size_t half = count / 2;
        if (strcmp(tasks[low + half]->dedup_key, key) < 0) {
            low += half + 1;
            count -= half + 1;
        } else {
            count = half;
        }
    }
    return low;
}

const tp_new_task *tpi_enqueue_first_with_key(tp_new_task **tasks, size_t count, const tp_new_task *task) {
    const char *key = task->dedup_key;
    if (!tasks || !key || !*key) return NULL;
    size_t i = first_with(tasks, count, key);
    return i < count && strcmp(tasks[i]->dedup_key, key) == 0 ? tasks[i] : NULL;
}

/* Of several with its key, itself counts. */
static void note(tp_new_task **tasks, size_t count, const char *key, const char *id) {
    for (size_t i = first_with(tasks, count, key); i < count && strcmp(tasks[i]->dedup_key, key) == 0; i++)
        if (strcmp(tasks[i]->existing_id, tasks[i]->id) != 0)
            memcpy(tasks[i]->existing_id, id, strlen(id) + 1);
}

struct found {
    const char *key, *id;
};

static tp_status read_keys(struct tpi_stmt *stmt, tp_new_task **tasks, size_t count) {
    static const struct tpi_column columns[] = {
        TPI_COLUMN(TEXT, struct found, key),
        TPI_COLUMN(UUID, struct found, id),
        TPI_COLUMN_END,
    };
    struct tpi_texts texts = {0};
    struct found found;
    tp_status status;
    while ((status = tpi_record_next(stmt, columns, &texts, &found)) == TP_OK) {
        note(tasks, count, found.key, found.id);
        tpi_texts_clear(&texts);
    }
    tpi_texts_free(&texts);
    return status == TP_NONE ? TP_OK : status;
}

static tp_status find_some(struct tpi_store *store, tp_new_task **tasks, size_t count) {
    const char *keys[TPI_LIST_MAX];
    struct tpi_args args = {0};
    struct tpi_stmt *stmt = NULL;
    for (size_t i = 0; i < count; i++)
        keys[i] = tasks[i]->dedup_key;
    tpi_args_list(&args, keys, count);
    tp_status status = tpi_store_query(store, TPI_S_find_keys, &args, &stmt);
    if (status != TP_OK) return status;
    status = read_keys(stmt, tasks, count);
    tpi_stmt_close(stmt);
    return status;
}

tp_status tpi_enqueue_find_keys(struct tpi_store *store, tp_new_task **tasks, size_t count) {
    tp_status status = TP_OK;
    tpi_enqueue_sort_by_key(tasks, count);
    for (size_t i = 0; i < count; i++)
        tasks[i]->existing_id[0] = '\0';
    for (size_t at = 0; at < count && status == TP_OK; at += TPI_LIST_MAX)
        status = find_some(store, tasks + at, count - at < TPI_LIST_MAX ? count - at : TPI_LIST_MAX);
    return status;
}
