/* Fires schedules: all that are due, or one of them now. See actions.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "actions.h"
#include "body.h"
#include "common/messages.h"

enum { ACTS_MAX = 1000 }; /* of a schedule, the newest: among them is that of a dialog that is open */

/* ---- All that are due ---------------------------------------------------------------------------------- */

struct due {
    int64_t now;
    size_t count;
};

static void count_due(const tp_schedule *schedule, void *arg) {
    struct due *due = arg;

    due->count += !schedule->paused && schedule->next_at && schedule->next_at <= due->now;
}

static void fire_due(tp_conn *conn, const struct request *request, const struct body_common *part,
                     struct answer *answer) {
    struct due due = {0};
    tp_status status = tp_now(conn, &due.now);

    if (status >= 0) status = tp_schedule_each(conn, count_due, &due);
    if (status >= 0 && !body_expected(part, due.count, answer)) return;
    if (status >= 0 && !part->dry_run) status = tp_schedule_fire(conn, &due.count, NULL);
    if (status < 0)
        answer_tp(answer, status);
    else
        body_answer(request, "fire", part, due.count, answer);
}

/* ---- One of them --------------------------------------------------------------------------------------- */

/* The schedule that is meant, and the task that it makes. */
struct one {
    const char *name;
    bool found, alone, fired; /* fired: by this dialog before */
    char *handler, *params, *biz_key;
    char last_task[TP_ID_SIZE];
    tp_new_task task;
};

static char *copy(const char *text) {
    return text ? cli_must(strdup(text)) : NULL;
}

static void take_one(const tp_schedule *schedule, void *arg) {
    struct one *one = arg;

    if (strcmp(schedule->name, one->name) != 0 || one->found) return;
    one->found = true;
    one->alone = schedule->alone != 0;
    one->task.handler = one->handler = copy(schedule->handler);
    one->task.params = one->params = copy(schedule->params);
    one->task.biz_key = one->biz_key = copy(schedule->biz_key);
    one->task.shard = schedule->shard;
    one->task.priority = schedule->priority;
    one->task.max_failures = schedule->max_failures;
    snprintf(one->last_task, TP_ID_SIZE, "%s", schedule->last_task ? schedule->last_task : "");
}

static tp_status is_open(tp_conn *conn, const char *id, bool *open) {
    tp_batch *batch = NULL;
    tp_status status = *id ? tp_show(conn, id, &batch) : TP_NONE;
    const tp_task *task = status == TP_OK ? tp_batch_task(batch, 0) : NULL;

    *open = task && strcmp(task->pool, "pending") == 0;
    tp_batch_free(batch);
    return status == TP_NONE ? TP_OK : status;
}

static void note_fired(const tp_audit *row, void *arg) {
    struct one *one = arg;

    one->fired |= row->detail && strcmp(row->detail, one->task.id) == 0;
}

/* The task and the act, or neither. TP_EXISTS: a task with this id is there. */
static tp_status enqueue_recorded(tp_conn *conn, struct one *one) {
    tp_status status = tp_begin(conn), ended;

    if (status != TP_OK) return status;
    status = tp_enqueue(conn, &one->task);
    if (status == TP_OK) status = tp_audit_add(conn, "fired", one->name, one->task.id, 1);
    ended = status == TP_OK ? tp_commit(conn) : tp_rollback(conn);
    return status == TP_OK ? ended : status;
}

/* The id is of the dialog, not of the try: confirmed again after an answer that was lost, the task is there,
 * and so is the act. TP_EXISTS: the task is there, but the act is not. */
static tp_status enqueue_once(tp_conn *conn, struct one *one) {
    tp_audit_request acts = TP_AUDIT_INIT;
    tp_status status = enqueue_recorded(conn, one);

    if (status != TP_EXISTS) return status;
    acts.action = "fired";
    acts.subject = one->name;
    acts.limit = ACTS_MAX;
    status = tp_audit_each(conn, &acts, note_fired, one);
    return status < 0 ? status : one->fired ? TP_OK : TP_EXISTS;
}

static void fire_one(tp_conn *conn, const struct request *request, const struct body_common *part,
                     struct one *one, struct answer *answer) {
    bool open = false, there = false;
    tp_status status = tp_schedule_each(conn, take_one, one);

    if (status >= 0 && !one->found) {
        answer_error(answer, ANSWER_NOT_FOUND, "there is no such schedule");
        return;
    }
    if (status >= 0 && one->alone) status = is_open(conn, one->last_task, &open);
    if (status >= 0 && open) status = is_open(conn, one->task.id, &there);
    if (status >= 0 && open && !there) {
        answer_error(answer, ANSWER_CHANGED, "its last task is open, and it wants no second beside it");
        return;
    }
    if (status >= 0 && !body_expected(part, 1, answer)) return;
    if (status >= 0 && !part->dry_run) status = enqueue_once(conn, one);
    if (status < 0)
        answer_tp(answer, status);
    else if (status == TP_EXISTS)
        answer_error(answer, ANSWER_CHANGED,
                     "another task has this id: nothing was fired; ask with an id of its own");
    else
        body_answer(request, "fire", part, 1, answer);
}

void act_fire(tp_conn *conn, const struct request *request, struct answer *answer) {
    static const char *const names[] = {"schedule", "id", NULL};
    struct one one = {.task = TP_NEW_TASK_INIT};
    struct body_common part;
    const char *id = NULL;

    if (!body_common(request, names, &part, answer) ||
        !body_text(request, "schedule", TP_HANDLER_MAX, &one.name, answer) ||
        !body_text(request, "id", TP_ID_SIZE - 1, &id, answer))
        return;
    if (!one.name) {
        fire_due(conn, request, &part, answer);
        return;
    }
    if (id) snprintf(one.task.id, TP_ID_SIZE, "%s", id);
    if (!id && !part.dry_run)
        answer_error(answer, ANSWER_BAD,
                     "id is missing: a UUID that the task gets, so that asking again makes no second one");
    else
        fire_one(conn, request, &part, &one, answer);
    free(one.handler);
    free(one.params);
    free(one.biz_key);
}
