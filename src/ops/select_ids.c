/* Ids by which people select tasks: of a group, and of those behind a gate, each by an index; sorted,
 * each once, and read in pieces. Read next: select.h. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "ops/select.h"

static const struct tpi_column only[] = {{TPI_READ_ID, 0, TPI_UUID_SIZE}, TPI_COLUMN_END};

tp_status tpi_select_group(tp_conn *conn, const char *group, bool waits, const char *after_id, size_t most,
                           struct tpi_ids *found) {
    struct tpi_args args = {0};
    void *ids = NULL;
    tpi_args_text(&args, TPI_P_name, group);
    tpi_args_number(&args, TPI_P_waits, waits);
    tpi_args_text(&args, TPI_P_after_id, after_id ? after_id : TPI_FIRST_ID);
    tpi_args_number(&args, TPI_P_limit, (int64_t)most);
    tp_status status = tpi_store_list(&conn->store, TPI_S_select_group_ids, &args, only, NULL, TPI_UUID_SIZE,
                                      &ids, &found->count);
    found->all = ids;
    return status;
}

/* A task that waits for a group is shown behind > and its name. */
static tp_status find_behind(tp_conn *conn, const char *gate, struct tpi_ids *found) {
    struct tpi_args args = {0};
    void *ids = NULL;
    if (*gate == '>') return tpi_select_group(conn, gate + 1, true, NULL, INT32_MAX, found);
    tpi_args_text(&args, TPI_P_gate, gate);
    tp_status status = tpi_store_list(&conn->store, TPI_S_select_gate_ids, &args, only, NULL, TPI_UUID_SIZE,
                                      &ids, &found->count);
    found->all = ids;
    return status;
}

static int by_text(const void *a, const void *b) {
    return strcmp(a, b);
}

void tpi_ids_narrow(struct tpi_ids *ids, struct tpi_ids *found) {
    size_t kept = 0;
    if (!ids->narrowed) {
        *ids = *found;
        ids->narrowed = true;
        return;
    }
    if (found->count) qsort(found->all, found->count, sizeof *found->all, by_text);
    for (size_t i = 0; i < ids->count && found->count; i++)
        if (bsearch(ids->all[i], found->all, found->count, sizeof *found->all, by_text))
            memmove(ids->all[kept++], ids->all[i], sizeof *ids->all);
    ids->count = kept;
    free(found->all);
}

static void sort_distinct(struct tpi_ids *ids) {
    size_t kept = 0;
    if (ids->count) qsort(ids->all, ids->count, sizeof *ids->all, by_text);
    for (size_t i = 0; i < ids->count; i++)
        if (!kept || strcmp(ids->all[i], ids->all[kept - 1]) != 0)
            memmove(ids->all[kept++], ids->all[i], sizeof *ids->all);
    ids->count = kept;
}

size_t tpi_ids_behind(const struct tpi_ids *ids, const char *after, size_t most, const char **out) {
    size_t low = 0, high = ids->count, count = 0;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (strcmp(ids->all[middle], after) <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < ids->count && count < most; low++)
        out[count++] = ids->all[low];
    return count;
}

tp_status tpi_select_members(tp_conn *conn, const char *group, const char *gate, struct tpi_ids *ids) {
    struct tpi_ids found = {.all = NULL};
    tp_status status = TP_OK;
    if (gate) {
        status = find_behind(conn, gate, &found);
        if (status == TP_OK) tpi_ids_narrow(ids, &found);
    }
    if (group && status == TP_OK) {
        found = (struct tpi_ids){.all = NULL};
        status = tpi_select_group(conn, group, false, NULL, INT32_MAX, &found);
        if (status == TP_OK) tpi_ids_narrow(ids, &found);
    }
    sort_distinct(ids);
    return status;
}
