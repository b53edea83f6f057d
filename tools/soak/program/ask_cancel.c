/* Cancels: of a task that waits, of one that was put in to be caught while it runs, and of whatever was put
 * in last. */
#include "producer.h"

#include <stdio.h>
#include <string.h>

static tp_status put_one(struct producer *producer, struct draft *drafts, size_t count) {
    (void)count;
    return tp_enqueue(producer->conn, &drafts[0].task);
}

/* Half of them wait, half run until they are told. */
bool soak_put_unwanted(struct producer *producer) {
    struct draft draft;
    tp_status status;
    int asked;

    soak_draw(producer, &draft);
    draft.task.deadline_ms = 0;
    draft.task.order_key = draft.task.gate = NULL;
    draft.task.handler = soak_random(&producer->random, 2) ? "pay" : "note";
    draft.task.delay_ms = producer->soak->quick || soak_random(&producer->random, 2) ? 3000 : 0;
    draft.task.priority = 0;
    snprintf(draft.params, sizeof draft.params, "%s", draft.task.delay_ms ? "ok" : SOAK_ASKS);
    soak_join_group(producer, &draft);
    status = soak_until_answered(producer, put_one, &draft, 1, &asked);
    if (status < TP_OK) return status == TP_LOST;
    memcpy(producer->unwanted, draft.task.id, sizeof producer->unwanted);
    return soak_note_tasks(producer, "ok", &draft, 1);
}

bool soak_cancel_latest(struct producer *producer) {
    if (!*producer->latest) return true;
    memcpy(producer->unwanted, producer->latest, sizeof producer->unwanted);
    return soak_cancel(producer);
}

static tp_status cancel(struct producer *producer, struct draft *drafts, size_t count) {
    static const tp_cancelled init = TP_CANCELLED_INIT;

    (void)drafts, (void)count;
    producer->cancelled = init;
    return tp_cancel(producer->conn, producer->unwanted, "soak", "no need", &producer->cancelled);
}

/* What is to be caught while it runs has begun, or a while is over. */
static void await_begin(struct producer *producer) {
    for (int i = 0; i < 60 && !soak_stopping && tp_conn_dbc(producer->conn); i++) {
        tp_batch *batch = NULL;
        bool found = tp_show(producer->conn, producer->unwanted, &batch) == TP_OK;
        const tp_task *task = found ? tp_batch_task(batch, 0) : NULL;
        bool waits = task && strcmp(task->state, "pending") == 0 && task->params &&
                     strcmp(task->params, SOAK_ASKS) == 0;

        tp_batch_free(batch);
        if (!waits) return;
        soak_sleep_ms(50);
    }
}

bool soak_cancel(struct producer *producer) {
    static const char *const words[] = {"unknown", "skipped", "asked"};
    char line[32];
    tp_status status;
    bool ok = soak_note(producer, "cancel", producer->unwanted);
    int asked;

    await_begin(producer);
    status = ok ? soak_until_answered(producer, cancel, NULL, 0, &asked) : TP_LOST;
    snprintf(line, sizeof line, "cancel-%s",
             producer->cancelled.answer == TP_CANCEL_LATE ? producer->cancelled.state
                                                          : words[producer->cancelled.answer]);
    if (status >= TP_OK) ok = soak_note(producer, line, producer->unwanted);
    *producer->unwanted = '\0';
    return ok && (status >= TP_OK || status == TP_LOST);
}
