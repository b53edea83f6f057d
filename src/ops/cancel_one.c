/* tp_cancel: one task, and what became of it. Of many: operate.c. Read next: cancel.h. */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "core/sized.h"
#include "ops/conn.h"

/* Between two looks a task may move; not for ever. */
enum { TRIES = 5 };

struct cancelling {
    tp_conn *conn;
    const char *id, *who, *why;
    tp_cancelled answer;
};

static tp_status ask(struct cancelling *one, tp_operated *operated) {
    tp_selection selection = TP_SELECTION_INIT;
    selection.ids = &one->id;
    selection.id_count = 1;
    selection.limit = 1; /* what comes after it is not asked for any more */
    selection.who = one->who;
    selection.why = one->why;
    memcpy(operated->request_id, one->answer.request_id, sizeof operated->request_id);
    tp_status status = tp_operate(one->conn, TP_ACTION_CANCEL, &selection, operated);
    memcpy(one->answer.request_id, operated->request_id, sizeof operated->request_id);
    return status;
}

static void say(struct cancelling *one, tp_cancel_answer answer, const char *state) {
    one->answer.answer = answer;
    snprintf(one->answer.state, sizeof one->answer.state, "%s", state);
}

/* TP_NONE: it is open, so that it moved just now; asked: and it is not in hand, or a transaction has it. */
static tp_status look(struct cancelling *one, bool asked) {
    tp_list_request list = TP_LIST_INIT;
    tp_batch *batch = NULL;
    list.ids = &one->id;
    list.id_count = 1;
    list.pool = "all";
    tp_status status = tp_list(one->conn, &list, &batch);
    /* A retry may take it from a pool that is read late to one that was read before. */
    if (status == TP_NONE) status = tp_list(one->conn, &list, &batch);
    if (status == TP_NONE) {
        say(one, TP_CANCEL_UNKNOWN, "");
        return TP_OK;
    }
    if (status != TP_OK) return status;
    const tp_task *task = tp_batch_task(batch, 0);
    bool open = strcmp(task->pool, "pending") == 0, skipped = strcmp(task->state, "skipped") == 0;
    bool in_hand = asked && strcmp(task->state, "handling") == 0;
    if (!open || in_hand)
        say(one, in_hand ? TP_CANCEL_ASKED : skipped ? TP_CANCEL_SKIPPED : TP_CANCEL_LATE, task->state);
    tp_batch_free(batch);
    return open && !in_hand ? TP_NONE : TP_OK;
}

/* Who had it in hand may have put it back before he could see that he is asked to end it. */
static tp_status cancel(struct cancelling *one) {
    bool asked_before = false;
    for (int i = 0; i < TRIES; i++) {
        tp_operated operated = TP_OPERATED_INIT;
        tp_status status = ask(one, &operated);
        if (status != TP_OK) return status;
        bool known = operated.done || (operated.asked && asked_before);
        if (known)
            say(one, operated.done ? TP_CANCEL_SKIPPED : TP_CANCEL_ASKED,
                operated.done ? "skipped" : "handling");
        if (!known) status = look(one, operated.asked);
        /* It is asked for, whatever cannot be read. */
        if (operated.asked && status < TP_OK && status != TP_DISCONNECTED) {
            say(one, TP_CANCEL_ASKED, "handling");
            return TP_OK;
        }
        if (status != TP_NONE) return status;
        asked_before = operated.asked;
    }
    return tpi_error(TP_CONFLICT, "task %s moved each time that it was to be cancelled; ask again", one->id);
}

tp_status tp_cancel(tp_conn *conn, const char *id, const char *who, const char *why, tp_cancelled *result) {
    struct cancelling one = {.conn = conn, .id = id, .who = who, .why = why, .answer = TP_CANCELLED_INIT};
    tp_status status = tpi_conn_ready_alone(conn, "tp_cancel");
    if (status != TP_OK) return status;
    if (!id) return tpi_error(TP_MISUSE, "tp_cancel: id is NULL");
    if (!result) return tpi_error(TP_MISUSE, "tp_cancel: result is NULL; it says what became of the task");
    const char *fault = tpi_sized_fault(TPI_SIZED_cancelled, result);
    if (fault) return tpi_error(TP_MISUSE, "%s", fault);
    bool asks_again = TPI_SIZED_HAS(result, tp_cancelled, request_id);
    if (asks_again) memcpy(one.answer.request_id, result->request_id, sizeof one.answer.request_id);
    one.answer.request_id[sizeof one.answer.request_id - 1] = '\0';
    status = cancel(&one);
    if (asks_again) memcpy(result->request_id, one.answer.request_id, sizeof result->request_id);
    if (status == TP_OK) tpi_sized_write(TPI_SIZED_cancelled, &one.answer, result);
    return status == TP_OK && one.answer.answer == TP_CANCEL_UNKNOWN ? TP_NONE : status;
}
