/* Fires schedules: all that are due, or one of them now. See actions.h. */
#include "actions.h"
#include "body.h"

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

static void fire_one(tp_conn *conn, const struct request *request, const struct body_common *part,
                     const char *name, const char *id, struct answer *answer) {
    tp_status status = tp_schedule_fire_one(conn, name, id, 1);

    if (status == TP_OK && !body_expected(part, 1, answer)) return;
    if (status == TP_OK && !part->dry_run) status = tp_schedule_fire_one(conn, name, id, 0);
    if (status == TP_NONE)
        answer_error(answer, ANSWER_NOT_FOUND, "there is no such schedule");
    else if (status != TP_OK)
        answer_tp(answer, status);
    else
        body_answer(request, "fire", part, 1, answer);
}

void act_fire(tp_conn *conn, const struct request *request, struct answer *answer) {
    static const char *const names[] = {"schedule", "id", NULL};
    struct body_common part;
    const char *name = NULL, *id = NULL;

    if (!body_common(request, names, &part, answer) ||
        !body_text(request, "schedule", TP_HANDLER_MAX, &name, answer) ||
        !body_text(request, "id", TP_ID_SIZE - 1, &id, answer))
        return;
    if (!name) {
        fire_due(conn, request, &part, answer);
        return;
    }
    if (!id && !part.dry_run)
        answer_error(answer, ANSWER_BAD,
                     "id is missing: a UUID that the task gets, so that asking again makes no second one");
    else
        fire_one(conn, request, &part, name, id, answer);
}
