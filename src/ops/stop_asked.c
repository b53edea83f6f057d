/* tp_stop_cause: should a loop that claims by itself end the work on a task? What a worker is told:
 * worker/canceller.c. Read next: cancel.h, settled.c. */
#include <string.h>

#include "base/error.h"
#include "base/utf8.h"
#include "ops/cancel.h"
#include "ops/for_workers.h"
#include "ops/hold.h"
#include "ops/settle.h"

/* By plan hold the row does not have the token yet, but nobody else can have it. */
static tp_status find_lost(tp_conn *conn, const tp_task *task, bool *lost) {
    struct tpi_row_state row = {.pool = TPI_POOL_PENDING, .state = TPI_STATE_PENDING};
    *lost = false;
    if (tpi_hold_locked(conn, task)) return TP_OK;
    tp_status status = tpi_settled_find(conn, task, &row);
    if (status < 0) return status;
    *lost = status == TP_NONE || row.state != TPI_STATE_HANDLING;
    return TP_OK;
}

static tp_status find_cause(tp_conn *conn, const tp_task *task, tp_stop *cause,
                            char text[TP_REASON_MAX + 1]) {
    struct tpi_unwanted_list list = {.count = 0};
    bool lost = false;
    text[0] = '\0';
    tp_status status = find_lost(conn, task, &lost);
    if (status == TP_OK && lost) {
        *cause = TP_STOP_LOST;
        tpi_utf8_copy("the claim is no longer held", text, TP_REASON_MAX + 1);
        return TP_OK;
    }
    if (status == TP_OK) status = tpi_unwanted_find(conn, (const char *const[]){task->id}, 1, &list);
    const struct tpi_unwanted *unwanted = status == TP_OK ? tpi_unwanted_of(&list, task->id) : NULL;
    if (unwanted) {
        *cause = *unwanted->who ? TP_STOP_CANCELLED : TP_STOP_DEADLINE;
        tpi_cancel_reason(unwanted->who, unwanted->why, text);
    }
    tpi_unwanted_free(&list);
    return status;
}

tp_status tp_stop_cause(tp_conn *conn, const tp_task *task, tp_stop *cause, char *text) {
    char words[TP_REASON_MAX + 1];
    tp_stop found = TP_STOP_NONE;
    tp_status status = tpi_conn_ready(conn);
    if (status == TP_OK && !cause) status = tpi_error(TP_MISUSE, "tp_stop_cause: cause is NULL");
    if (status == TP_OK) status = tpi_settle_check(task);
    if (status == TP_OK) status = find_cause(conn, task, &found, words);
    if (status != TP_OK || !cause) return tpi_conn_answer(conn, status);
    *cause = found;
    if (text) memcpy(text, words, sizeof words);
    return TP_OK;
}
