/* What the maintenance of any worker does with tasks that are not wanted any more: those that wait are
 * skipped, and what was asked of tasks that have ended is removed. Declared in for_workers.h. Read next:
 * cancel.h. */
#include <stdlib.h>
#include <string.h>

#include "base/process_name.h"
#include "base/utf8.h"
#include "ops/cancel.h"
#include "ops/for_workers.h"
#include "ops/operate.h"

/* A row of cancel_due. */
struct due {
    struct tpi_unwanted unwanted;
    const char *state; /* "": it is not open */
};

struct page {
    struct tpi_texts texts;
    struct due rows[TPI_CHUNK];
    size_t count;
};

static tp_status read_page(tp_conn *conn, int64_t since, const char *after_id, struct page *page) {
    static const struct tpi_column columns[] = {
        TPI_COLUMN(UUID, struct due, unwanted.id),  TPI_COLUMN(NUMBER, struct due, unwanted.due_at),
        TPI_COLUMN(TEXT, struct due, unwanted.who), TPI_COLUMN(TEXT, struct due, unwanted.why),
        TPI_COLUMN(TEXT, struct due, state),        TPI_COLUMN_END,
    };
    struct tpi_args args = {0};
    struct tpi_stmt *stmt = NULL;
    tpi_args_number(&args, TPI_P_since, since);
    tpi_args_text(&args, TPI_P_after_id, after_id);
    tpi_args_number(&args, TPI_P_limit, TPI_CHUNK);
    page->count = 0;
    tp_status status = tpi_store_query(&conn->store, TPI_S_cancel_due, &args, &stmt);
    if (status != TP_OK) return status;
    return tpi_unwanted_read(stmt, columns, &page->texts, page->rows, sizeof *page->rows, TPI_CHUNK,
                             &page->count);
}

static tp_status remove_left(tp_conn *conn, const char *const *ids, size_t count, size_t *done) {
    struct tpi_args args = {0};
    int64_t rows = 0;
    if (!count) return TP_OK;
    tpi_args_list(&args, ids, count);
    tp_status status = tpi_store_change(&conn->store, TPI_S_cancel_left, &args, &rows);
    *done += (size_t)rows;
    return status;
}

/* For the same reason. Those that others have at hand are left to them: *met says so. */
static tp_status skip(tp_conn *conn, const struct tpi_unwanted *reason, const char *const *ids, size_t count,
                      size_t *done, tp_status *met) {
    tp_selection selection = TP_SELECTION_INIT;
    struct tpi_operation op = {.conn = conn, .selection = &selection, .by_worker = true};
    if (!count) return TP_OK;
    selection.ids = ids;
    selection.id_count = count;
    selection.who = reason->who;
    selection.why = reason->why;
    tp_status status = tpi_operate_begin(&op, TP_ACTION_CANCEL);
    if (!*op.who) tpi_process_name(op.who);
    if (status == TP_OK) status = tpi_operate_run(&op, TP_ACTION_CANCEL);
    free(op.ids.all);
    *done += op.result.done;
    if (status != TP_CONFLICT && status != TP_TIMEOUT) return status;
    *met = status;
    return TP_OK;
}

static bool waits(const struct due *row) {
    return *row->state && strcmp(row->state, tpi_state_name(TPI_STATE_HANDLING)) != 0;
}

static bool same_reason(const struct tpi_unwanted *one, const struct tpi_unwanted *other) {
    return strcmp(one->who, other->who) == 0 && strcmp(one->why, other->why) == 0;
}

static tp_status act_on(tp_conn *conn, const struct page *page, size_t *done, tp_status *met) {
    const char *left[TPI_CHUNK], *waiting[TPI_CHUNK] = {NULL};
    const struct tpi_unwanted *reason = &page->rows[0].unwanted;
    size_t left_count = 0, count = 0;
    tp_status status = TP_OK;
    for (size_t i = 0; i < page->count && status == TP_OK; i++) {
        const struct due *row = &page->rows[i];
        if (!*row->state) left[left_count++] = row->unwanted.id;
        if (!waits(row)) continue;
        if (count && !same_reason(reason, &row->unwanted)) {
            status = skip(conn, reason, waiting, count, done, met);
            count = 0;
        }
        reason = &row->unwanted;
        waiting[count++] = row->unwanted.id;
    }
    if (status == TP_OK) status = skip(conn, reason, waiting, count, done, met);
    return status == TP_OK ? remove_left(conn, left, left_count, done) : status;
}

tp_status tpi_cancel_sweep(tp_conn *conn, size_t limit, size_t *done) {
    char after_id[TPI_UUID_SIZE] = "00000000-0000-0000-0000-000000000000";
    struct page *page = calloc(1, sizeof *page);
    int64_t since = -TP_TIME_MAX;
    tp_status status = tpi_conn_ready_alone(conn, "tpi_cancel_sweep");
    tp_status met = TP_OK;
    *done = 0;
    if (!page) return tpi_link_no_memory(&conn->store.link);
    for (bool more = true; more && *done < limit && status == TP_OK;) {
        tpi_texts_clear(&page->texts);
        status = read_page(conn, since, after_id, page);
        if (status != TP_OK || !page->count) break;
        const struct tpi_unwanted *last = &page->rows[page->count - 1].unwanted;
        since = last->due_at;
        tpi_utf8_copy(last->id, after_id, sizeof after_id);
        more = page->count == TPI_CHUNK;
        status = act_on(conn, page, done, &met);
    }
    tpi_texts_free(&page->texts);
    free(page);
    return status == TP_OK ? met : status;
}
