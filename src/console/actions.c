/* See actions.h. The body of a request names what is meant; one that names nothing does nothing. */
#include "actions.h"

#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "body.h"
#include "common/pool_columns.h"
#include "common/values.h"
#include "mask.h"

/* ---- Handlers and schedules ---------------------------------------------------------------------------- */

struct search {
    const char *name;
    bool found, paused;
};

static void find_paused(const tp_paused *paused, void *arg) {
    struct search *search = arg;

    if (strcmp(paused->handler, search->name) == 0) search->paused = true;
}

static void find_schedule(const tp_schedule *schedule, void *arg) {
    struct search *search = arg;

    if (strcmp(schedule->name, search->name) != 0) return;
    search->found = true;
    search->paused = schedule->paused;
}

static tp_status change_paused(tp_conn *conn, const struct request *request, const char *why,
                               const struct search *search, bool schedule, bool pause) {
    if (schedule) return tp_schedule_pause(conn, search->name, pause);
    return pause ? tp_pause(conn, search->name, request->who, why)
                 : tp_resume(conn, search->name, request->who);
}

static void set_paused(tp_conn *conn, const struct request *request, struct answer *answer, bool pause) {
    static const char *const names[] = {"handler", "schedule", NULL};
    struct search search = {.name = NULL};
    struct body_common part;
    bool schedule = body_member(request, "schedule") != NULL;
    tp_status status;
    size_t count;

    if (!body_common(request, names, &part, answer) ||
        !body_needed(request, schedule ? "schedule" : "handler", &search.name, answer))
        return;
    status = schedule ? tp_schedule_each(conn, find_schedule, &search)
                      : tp_paused_each(conn, find_paused, &search);
    if (status >= 0 && schedule && !search.found) {
        answer_error(answer, ANSWER_NOT_FOUND, "there is no such schedule");
        return;
    }
    count = search.paused != pause;
    if (status >= 0 && !body_expected(&part, count, answer)) return;
    if (status >= 0 && !part.dry_run && count)
        status = change_paused(conn, request, part.why, &search, schedule, pause);
    if (status < 0)
        answer_tp(answer, status);
    else
        body_answer(request, pause ? "pause" : "resume", &part, count, answer);
}

static void act_pause(tp_conn *conn, const struct request *request, struct answer *answer) {
    set_paused(conn, request, answer, true);
}

static void act_resume(tp_conn *conn, const struct request *request, struct answer *answer) {
    set_paused(conn, request, answer, false);
}

/* ---- Workers ------------------------------------------------------------------------------------------- */

struct meant {
    const char *name;
    size_t count;
};

static void count_meant(const tp_worker_row *row, void *arg) {
    struct meant *meant = arg;

    meant->count += !worker_is_gone(row) && row->seen_ago_ms < WORKER_SILENT_MS &&
                    (strcmp(row->host, meant->name) == 0 || strcmp(row->name, meant->name) == 0 ||
                     strcmp(row->id, meant->name) == 0);
}

static void act_drain(tp_conn *conn, const struct request *request, struct answer *answer) {
    static const char *const names[] = {"worker", NULL};
    struct meant meant = {0};
    struct body_common part;
    tp_status status;

    if (!body_common(request, names, &part, answer) || !body_needed(request, "worker", &meant.name, answer))
        return;
    status = tp_worker_each(conn, count_meant, &meant);
    if (status >= 0 && !body_expected(&part, meant.count, answer)) return;
    if (status >= 0 && !part.dry_run) {
        meant.count = 0;
        status = tp_drain(conn, meant.name, request->who, &meant.count);
    }
    if (status < 0)
        answer_tp(answer, status);
    else
        body_answer(request, "drain", &part, meant.count, answer);
}

/* ---- Edit ---------------------------------------------------------------------------------------------- */

/* null takes a text out. */
static bool take_field(const struct request *request, const char *key, size_t most, int32_t field,
                       const char **text, tp_edit_request *edit, struct answer *answer) {
    json_object *value;

    if (!json_object_object_get_ex(request->body, key, &value)) return true;
    edit->fields |= field;
    return body_text(request, key, most, text, answer);
}

static bool take_edit(const struct request *request, tp_edit_request *edit, struct answer *answer) {
    const char *edit_id = NULL;
    int64_t priority = 0, max_failures = 0;
    bool retry = false;

    if (!take_field(request, "params", TP_PARAMS_MAX, TP_EDIT_PARAMS, &edit->params, edit, answer) ||
        !take_field(request, "biz_key", TP_KEY_MAX, TP_EDIT_BIZ_KEY, &edit->biz_key, edit, answer) ||
        !take_field(request, "dedup_key", TP_KEY_MAX, TP_EDIT_DEDUP_KEY, &edit->dedup_key, edit, answer) ||
        !body_number(request, "priority", INT16_MIN, INT16_MAX, &priority, answer) ||
        !body_number(request, "max_failures", 0, INT32_MAX, &max_failures, answer) ||
        !body_number(request, "due_at", TIME_LEAST, TP_TIME_MAX, &edit->due_at, answer) ||
        !body_number(request, "deadline_at", 0, TP_TIME_MAX, &edit->deadline_at, answer) ||
        !body_number(request, "modified_at", 1, TP_TIME_MAX, &edit->modified_at, answer) ||
        !body_text(request, "edit_id", TP_ID_SIZE - 1, &edit_id, answer) ||
        !body_yes_no(request, "retry", &retry, answer))
        return false;
    if (edit->deadline_at && edit->deadline_at < TIME_LEAST) {
        answer_error(answer, ANSWER_BAD, "deadline_at must be 0, or milliseconds from %lld on",
                     (long long)TIME_LEAST);
        return false;
    }
    if (edit_id) snprintf(edit->edit_id, sizeof edit->edit_id, "%s", edit_id);
    if (body_member(request, "priority")) edit->fields |= TP_EDIT_PRIORITY;
    if (body_member(request, "max_failures")) edit->fields |= TP_EDIT_MAX_FAILURES;
    if (body_member(request, "due_at")) edit->fields |= TP_EDIT_DUE_AT;
    if (body_member(request, "deadline_at")) edit->fields |= TP_EDIT_DEADLINE_AT;
    edit->priority = (int32_t)priority;
    edit->max_failures = (int32_t)max_failures;
    edit->retry = retry;
    if ((edit->fields & TP_EDIT_PARAMS) && !request->params)
        answer_error(answer, ANSWER_FORBIDDEN, "you may not see parameters, so you may not change them");
    else if (!edit->fields && !edit->retry)
        answer_error(answer, ANSWER_BAD, "nothing would be changed");
    else
        return true;
    return false;
}

/* Who does not see all of them would lose the rest by an edit. Asks for the task also where it is not for
 * sure there. */
static tp_status check_task(tp_conn *conn, const struct request *request, const char *id, bool params,
                            bool *masked) {
    tp_batch *batch = NULL;
    tp_status status = tp_show(conn, id, &batch);

    if (status == TP_OK && params) {
        const char *text = tp_batch_task(batch, 0)->params;

        free(mask_text(request->masks, text ? text : "", masked));
    }
    tp_batch_free(batch);
    return status;
}

static void act_edit(tp_conn *conn, const struct request *request, struct answer *answer) {
    static const char *const names[] = {"id",       "params",       "biz_key", "dedup_key",
                                        "priority", "max_failures", "due_at",  "deadline_at",
                                        "retry",    "modified_at",  "edit_id", NULL};
    tp_edit_request edit = TP_EDIT_INIT;
    struct body_common part;
    const char *id = NULL;
    bool masked = false;
    tp_status status;

    if (!body_common(request, names, &part, answer) || !body_needed(request, "id", &id, answer) ||
        !take_edit(request, &edit, answer))
        return;
    status = check_task(conn, request, id, (edit.fields & TP_EDIT_PARAMS) != 0, &masked);
    if (masked) {
        answer_error(answer, ANSWER_FORBIDDEN,
                     "some of its parameters are masked here, so that they cannot be changed here");
        return;
    }
    if (status == TP_OK && !part.dry_run) {
        status = tp_edit(conn, id, &edit, request->who, part.why);
        if (status == TP_DISCONNECTED && tp_conn_reopen(conn) == TP_OK)
            status = tp_edit(conn, id, &edit, request->who, part.why);
    }
    if (status == TP_REQUESTED)
        body_requested(request, "edit", edit.edit_id, 1, answer);
    else if (status == TP_NONE)
        answer_error(answer, ANSWER_NOT_FOUND, "no task has this id");
    else if (status == TP_EXISTS)
        answer_error(answer, ANSWER_CHANGED, "an open task has the dedup_key; nothing was changed");
    else if (status != TP_OK)
        answer_tp(answer, status);
    else
        body_answer(request, "edit", &part, 1, answer);
}

static const struct action {
    const char *name;
    ask_fn act;
    enum role least;
} actions[] = {
    {"retry", act_retry, ROLE_OPERATOR},
    {"cancel", act_cancel, ROLE_OPERATOR},
    {"skip", act_skip, ROLE_OPERATOR},
    {"release", act_release, ROLE_OPERATOR},
    {"pause", act_pause, ROLE_OPERATOR},
    {"resume", act_resume, ROLE_OPERATOR},
    {"drain", act_drain, ROLE_OPERATOR},
    {"fire", act_fire, ROLE_OPERATOR},
    {"edit", act_edit, ROLE_OPERATOR},
    {"refuse", act_refuse, ROLE_OPERATOR},
    {"approve", act_approve, ROLE_APPROVER},
    {"four-eyes", act_four_eyes, ROLE_ADMINISTRATOR},
    {"retention", act_retention, ROLE_ADMINISTRATOR},
};

static const struct action *find(const char *name) {
    for (size_t i = 0; i < sizeof actions / sizeof actions[0]; i++)
        if (strcmp(actions[i].name, name) == 0) return &actions[i];
    return NULL;
}

/* The audit names the signed-in person, also where the call of the library asks for no name or reason. */
static void act_as_person(tp_conn *conn, const struct request *request, struct answer *answer) {
    const struct action *action = find(request->id);
    tp_actor actor = TP_ACTOR_INIT;
    tp_status status;

    actor.who = request->who;
    actor.why = json_object_get_string(body_member(request, "why"));
    status = tp_conn_actor(conn, &actor);
    if (status == TP_OK)
        action->act(conn, request, answer);
    else
        answer_tp(answer, status);
    (void)!tp_conn_actor(conn, NULL);
}

ask_fn action_find(const char *name) {
    return find(name) ? act_as_person : NULL;
}

enum role action_role(const char *name) {
    const struct action *action = find(name);

    return action ? action->least : ROLE_OPERATOR;
}
