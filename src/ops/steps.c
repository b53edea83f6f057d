/* The ledger of steps: what a handler's step returned, by its task and name, for workers (declared in
 * for_workers.h) and for programs that claim by themselves. Must not know when a step is run or asked for
 * again. Read next: worker/run_step.c. */
#include "ops/steps.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "ops/for_workers.h"
#include "ops/hold.h"
#include "ops/refused.h"
#include "ops/settle.h"
#include "store/cursor.h"

struct found {
    int64_t done_at; /* 0: it was not done */
    const char *result;
};

static tp_status find(tp_conn *conn, const tp_task *task, const char *name, struct tpi_texts *texts,
                      struct found *found) {
    static const struct tpi_column columns[] = {
        TPI_COLUMN(NUMBER, struct found, done_at),
        TPI_COLUMN(TEXT, struct found, result),
        TPI_COLUMN_END,
    };
    struct tpi_args args = {0};
    *found = (struct found){0};
    tpi_args_text(&args, TPI_P_id, task->id);
    tpi_args_text(&args, TPI_P_token, task->owner);
    tpi_args_text(&args, TPI_P_step, name);
    tp_status status = tpi_store_read(&conn->store, TPI_S_step_find, &args, columns, texts, found);
    if (status == TP_NONE) return tpi_settle_lost(conn, task);
    if (status != TP_OK) return status;
    if (!found->done_at) return TP_NONE;
    conn->store.link.tx_state.seen = true;
    return TP_OK;
}

tp_status tpi_step_find(tp_conn *conn, const tp_task *task, const char *name, struct tpi_texts *texts,
                        const char **result) {
    struct found found;
    tp_status status = tpi_conn_ready(conn);
    if (status == TP_OK) status = find(conn, task, name, texts, &found);
    if (status == TP_OK) *result = found.result;
    return tpi_conn_answer(conn, status);
}

tp_status tpi_step_add(tp_conn *conn, const tp_task *task, const char *name, const char *result) {
    struct tpi_args args = {0};
    tpi_args_text(&args, TPI_P_id, task->id);
    tpi_args_text(&args, TPI_P_token, task->owner);
    tpi_args_text(&args, TPI_P_step, name);
    tpi_args_text(&args, TPI_P_result, result);
    tp_status status = tpi_conn_ready(conn);
    if (status == TP_OK) status = tpi_store_change_one(&conn->store, TPI_S_step_add, &args);
    if (status == TP_NONE) return tpi_refused_silently(&conn->store, "stored no row", "step");
    return status;
}

tp_status tpi_step_check_name(const char *name) {
    if (!name || !*name) return tpi_error(TP_MISUSE, "a step needs a name");
    if (strlen(name) > TP_STEP_NAME_MAX)
        return tpi_error(TP_TOOBIG, "the step's name has %zu bytes; at most %d are allowed", strlen(name),
                         TP_STEP_NAME_MAX);
    for (const char *at = name; *at; at++)
        if (!isalnum((unsigned char)*at) && !strchr("._:-", *at))
            return tpi_error(TP_MISUSE, "a step's name may hold letters, digits and . _ : - only");
    return TP_OK;
}

/* ---- For who claims without a worker --------------------------------------------------------------------
 */

static tp_status check(tp_conn *conn, const tp_task *task, const char *name) {
    tp_status status = tpi_conn_ready(conn);
    if (status == TP_OK) status = tpi_settle_check(task);
    if (status == TP_OK) status = tpi_step_check_name(name);
    if (status != TP_OK || !tpi_hold_is(task)) return status;
    return tpi_error(TP_UNSUPPORTED,
                     "step %s: by plan hold all work on a task is one transaction; steps need a plan that "
                     "leases tasks",
                     name);
}

tp_status tp_step_find(tp_conn *conn, const tp_task *task, const char *name, tp_step_row_fn see, void *arg) {
    struct tpi_texts texts = {0};
    struct found found = {0};
    tp_status status = check(conn, task, name);
    if (status != TP_OK) return tpi_conn_doom(conn, status);
    if (!see) return tpi_conn_doom(conn, tpi_error(TP_MISUSE, "tp_step_find: see must not be NULL"));
    status = tpi_conn_answer(conn, find(conn, task, name, &texts, &found));
    tp_step_row row = {name, found.result ? found.result : "", found.done_at};
    if (status == TP_OK) see(&row, arg);
    tpi_texts_free(&texts);
    return status;
}

/* The extension locks the task, so that what an earlier try recorded is seen, or was undone. */
static tp_status record(tp_conn *conn, const tp_task *task, const char *name, const char *result,
                        int64_t lease_ms, bool alone) {
    struct tpi_texts texts = {0};
    struct found found;
    tp_status status = tp_extend(conn, task, lease_ms);
    if (status == TP_OK) status = find(conn, task, name, &texts, &found);
    tpi_texts_free(&texts);
    if (status == TP_NONE) {
        status = tpi_step_add(conn, task, name, result);
        return tpi_refused_judge(&conn->store, status, "step", NULL,
                                 NULL); /* that it is not there was seen */
    }
    if (status != TP_OK) return status;
    if (alone) return TP_EXISTS;
    return tpi_error(TP_CONFLICT,
                     "step %s of task %s: an earlier transaction has done it; roll this one back", name,
                     task->id);
}

tp_status tp_step_add(tp_conn *conn, const tp_task *task, const char *name, const char *result,
                      int64_t lease_ms) {
    struct tpi_scope scope;
    tp_status status = check(conn, task, name);
    if (status == TP_OK) status = tpi_check_result("the step's result", result);
    if (status == TP_OK) status = tpi_conn_needs_transaction(conn, "tp_step_add takes several statements");
    if (status != TP_OK) return tpi_conn_doom(conn, status);
    bool alone = tpi_conn_is_alone(conn);
    status = tpi_scope_begin(conn, &scope);
    if (status == TP_OK) status = record(conn, task, name, result, lease_ms, alone);
    return tpi_scope_end(conn, &scope, status);
}

/* ---- For who deletes tasks ------------------------------------------------------------------------------
 */

tp_status tpi_steps_any(tp_conn *conn, const char *id, bool *found) {
    struct tpi_args args = {0};
    tpi_args_text(&args, TPI_P_id, id);
    return tpi_store_exists(&conn->store, conn->store.by_locks ? TPI_S_step_any_locking : TPI_S_step_any,
                            &args, found);
}

static tp_status purge_each(struct tpi_store *store, const char *const *ids, size_t count) {
    struct tpi_args args = {0};
    int64_t rows = 0;
    tp_status status = TP_OK;
    for (size_t i = 0; i < count && status == TP_OK; i++) {
        if (i && strcmp(ids[i], ids[i - 1]) == 0) continue; /* they come in the order of their key */
        tpi_args_text(&args, TPI_P_id, ids[i]);
        status = tpi_store_change(store, TPI_S_step_purge, &args, &rows);
    }
    return status;
}

tp_status tpi_steps_purge(tp_conn *conn, const char *const *ids, size_t count) {
    static const struct tpi_column only[] = TPI_COLUMN_ONLY(UUID);
    struct tpi_store *store = &conn->store;
    struct tpi_texts texts = {0};
    struct tpi_args args = {0};
    void *all = NULL;
    size_t found = 0;
    tpi_args_list(&args, ids, count);
    tp_status status =
        tpi_store_list(store, TPI_S_step_tasks, &args, only, &texts, sizeof(char *), &all, &found);
    if (status == TP_OK) status = purge_each(store, all, found);
    free(all);
    tpi_texts_free(&texts);
    return status;
}

/* ---- For people ---------------------------------------------------------------------------------------- */

tp_status tp_step_each(tp_conn *conn, const tp_task *task, tp_step_row_fn see, void *arg) {
    static const struct tpi_column columns[] = {
        TPI_COLUMN(TEXT, tp_step_row, name),
        TPI_COLUMN(TEXT, tp_step_row, result),
        TPI_COLUMN(NUMBER, tp_step_row, at),
        TPI_COLUMN_END,
    };
    struct tpi_args args = {0};
    struct tpi_cursor cursor;
    tp_step_row step;
    tp_status status = tpi_conn_ready(conn);
    if (status != TP_OK) return status;
    if (!task || !see) return tpi_error(TP_MISUSE, "tp_step_each: task and see must not be NULL");
    tpi_args_text(&args, TPI_P_id, task->id);
    tpi_args_number(&args, TPI_P_created_at, task->created_at);
    tpi_cursor_open(&cursor, &conn->store, TPI_S_step_list, &args, columns, SIZE_MAX);
    while (tpi_cursor_next(&cursor, &step))
        see(&step, arg);
    return tpi_cursor_close(&cursor);
}
