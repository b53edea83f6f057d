/* The call of operators: does at once what one person may do alone, and writes a request of the rest. Read
 * next: operate.c, request.h. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/utf8.h"
#include "ops/four_eyes.h"
#include "ops/request.h"

/* ---- Four eyes ----------------------------------------------------------------------------------------- */

struct wish {
    struct tpi_operation *op;
    tp_action action;
};

static tp_status note_all(tp_conn *conn, const char *id, void *arg, size_t *count) {
    struct wish *wish = arg;
    (void)conn;
    wish->op->request_id = id;
    tp_status status = tpi_operate_run(wish->op, wish->action);
    wish->op->request_id = NULL;
    *count = wish->op->result.done;
    return status;
}

/* TP_NONE: it is of at most retry_max tasks, and needs nobody else; what comes meanwhile is left alone.
 * TP_EXISTS: it is of more. */
static tp_status count_retry(struct tpi_operation *op, int64_t retry_max, tp_selection *selection) {
    selection->dry_run = 1;
    tp_status status = tpi_operate_run(op, TP_ACTION_RETRY);
    selection->dry_run = 0;
    size_t count = op->result.done;
    if (status != TP_OK || !count) return status;
    op->result.done = op->result.passed = op->result.unstored = 0;
    if (count > (size_t)retry_max) return TP_EXISTS;
    selection->limit = count;
    return TP_NONE;
}

/* TP_NONE: it needs no second person, and is to be done. */
static tp_status request(struct tpi_operation *op, tp_action action, tp_selection *selection) {
    static const char *const acts[] = {[TP_ACTION_RETRY] = TPI_ACT_RETRY,
                                       [TP_ACTION_SKIP] = TPI_ACT_SKIP,
                                       [TP_ACTION_CANCEL] = TPI_ACT_CANCEL,
                                       [TP_ACTION_PURGE] = TPI_ACT_PURGE};
    char text[TPI_SELECTION_SIZE], why[TP_REASON_MAX + 1];
    tp_four_eyes eyes = TP_FOUR_EYES_INIT;
    struct wish wish = {op, action};
    if (action == TP_ACTION_RELEASE || selection->dry_run) return TP_NONE;
    tp_status status = tpi_four_eyes_read(op->conn, &eyes);
    if (status != TP_OK || (!eyes.on && !*op->result.request_id)) return status == TP_OK ? TP_NONE : status;
    tpi_utf8_copy(selection->why ? selection->why : "", why, sizeof why);
    struct tpi_new_request asked = {.act = acts[action],
                                    .pool = selection->pool,
                                    .selection = text,
                                    .who = op->who,
                                    .why = why,
                                    .expire_ms = eyes.expire_ms};
    status = tpi_request_selection(op, text);
    if (status == TP_OK)
        status = tpi_request_earlier(op->conn, &asked, op->result.request_id, &op->result.done);
    if (status != TP_NONE || !eyes.on) return status;
    if (action == TP_ACTION_RETRY) status = count_retry(op, eyes.retry_max, selection);
    if (action == TP_ACTION_RETRY && status != TP_EXISTS) return status;
    status = tpi_request_put(op->conn, &asked, op->result.request_id, note_all, &wish, &op->result.done);
    return status == TP_NONE ? TP_OK : status;
}

/* ---- The call ------------------------------------------------------------------------------------------ */

static void take_request_id(struct tpi_operation *op, const tp_operated *result) {
    char *id = op->result.request_id;
    if (!result || !TPI_SIZED_HAS(result, tp_operated, request_id)) return;
    memcpy(id, result->request_id, sizeof op->result.request_id);
    id[sizeof op->result.request_id - 1] = '\0';
}

static tp_status run_given(struct tpi_operation *op, tp_action action, const char *const *keys, size_t count,
                           size_t *done) {
    bool purges = action == TP_ACTION_PURGE;
    tp_status status = tpi_operate_begin(op, action);
    if (status == TP_OK) status = purges ? tpi_purge_keys(op, keys, count) : tpi_operate_run(op, action);
    free(op->ids.all);
    *done = op->result.done + op->result.asked;
    return status;
}

tp_status tpi_operate_given(tp_conn *conn, tp_action action, const char *pool, const char *const *keys,
                            size_t count, const char *who, const char *why, size_t *done) {
    tp_selection selection = TP_SELECTION_INIT;
    struct tpi_operation op = {.conn = conn, .selection = &selection};
    bool purges = action == TP_ACTION_PURGE;
    selection.pool = pool;
    selection.who = who;
    selection.why = why;
    selection.ids = purges ? NULL : keys;
    selection.id_count = purges ? 0 : count;
    return run_given(&op, action, keys, count, done);
}

tp_status tpi_operate_skip_as(const char *word, tp_conn *conn, const char *pool, const char *const *ids,
                              size_t count, const char *who, const char *why, size_t *done) {
    tp_selection selection = TP_SELECTION_INIT;
    struct tpi_operation op = {.conn = conn, .selection = &selection, .word = word};
    selection.pool = pool;
    selection.who = who;
    selection.why = why;
    selection.ids = ids;
    selection.id_count = count;
    return run_given(&op, TP_ACTION_SKIP, ids, count, done);
}

tp_status tp_operate(tp_conn *conn, tp_action action, const tp_selection *given, tp_operated *result) {
    tp_selection selection = TP_SELECTION_INIT;
    struct tpi_operation op = {.conn = conn, .selection = &selection};
    tp_status status = tpi_conn_ready_alone(conn, "tp_operate");
    if (status != TP_OK) return status;
    const char *fault = result ? tpi_sized_fault(TPI_SIZED_operated, result) : NULL;
    if (fault) return tpi_error(TP_MISUSE, "%s", fault);
    if (!given) return tpi_error(TP_MISUSE, "tp_operate: selection is NULL");
    status = tpi_read_sized(TPI_SIZED_selection, given, &selection);
    if (status == TP_OK) status = tpi_operate_check(action, &selection);
    if (status == TP_OK) status = tpi_operate_begin(&op, action);
    take_request_id(&op, result);
    if (status == TP_OK) status = request(&op, action, &selection);
    bool runs = status == TP_NONE;
    if (runs) status = tpi_operate_run(&op, action);
    free(op.ids.all);
    if (result && TPI_SIZED_HAS(result, tp_operated, request_id))
        memcpy(result->request_id, op.result.request_id, sizeof result->request_id);
    /* Chunks before one that failed are committed. */
    if ((status >= TP_OK || (runs && !selection.dry_run)) && result)
        tpi_sized_write(TPI_SIZED_operated, &op.result, result);
    return status;
}
