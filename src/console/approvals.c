/* What a second person decides, and the settings that only an administrator switches, as actions: see
 * actions.h. Who may is decided before, but for one's own request, which everybody who acts may take back. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "actions.h"
#include "body.h"
#include "common/messages.h"
#include "mask.h"

/* ---- Decisions ----------------------------------------------------------------------------------------- */

struct found {
    const struct request *request;
    bool there, waits, own, hidden; /* hidden: it gives parameters that this person does not see whole */
    int64_t tasks;
};

static bool hides(const struct request *request, const char *params) {
    bool hidden = false;

    if (!request->params) return true;
    free(mask_text(request->masks, params, &hidden));
    return hidden;
}

static void note_request(const tp_request *request, void *arg) {
    struct found *found = arg;

    found->there = true;
    found->waits = strcmp(request->state, "waiting") == 0;
    found->own = tp_same_person(request->asked_by, found->request->who);
    found->hidden =
        found->waits && request->fields & TP_EDIT_PARAMS && hides(found->request, request->params);
    found->tasks = request->tasks;
}

/* False: answered. *found: what is there now. */
static bool take_request(tp_conn *conn, const struct request *request, struct body_common *part,
                         const char **id, struct found *found, struct answer *answer) {
    static const char *const names[] = {"request", NULL};
    tp_status status;

    *found = (struct found){.request = request};
    if (!body_common(request, names, part, answer) || !body_needed(request, "request", id, answer))
        return false;
    status = tp_request_each(conn, *id, NULL, 1, note_request, found);
    if (status < 0)
        answer_tp(answer, status);
    else if (!found->there)
        answer_error(answer, ANSWER_NOT_FOUND, "there is no such request");
    else if (body_expected(part, (size_t)found->tasks, answer))
        return true;
    return false;
}

static void answer_decision(const struct request *request, const char *name, const struct body_common *part,
                            tp_status status, size_t count, struct answer *answer) {
    if (status == TP_OK)
        body_answer(request, name, part, count, answer);
    else if (status == TP_STALE)
        answer_error(answer, ANSWER_CHANGED, "%s", tp_last_error()->text);
    else if (status == TP_EXISTS)
        answer_error(answer, ANSWER_CHANGED, "somebody decided it before, or it has expired");
    else if (status == TP_NONE)
        answer_error(answer, ANSWER_NOT_FOUND, "there is no such request");
    else
        answer_tp(answer, status);
}

/* Of a person who confirms again after a lost answer the library knows what he did. */
void act_approve(tp_conn *conn, const struct request *request, struct answer *answer) {
    tp_operated result = TP_OPERATED_INIT;
    struct body_common part;
    struct found found;
    const char *id = NULL;
    tp_status status = TP_OK;

    if (!take_request(conn, request, &part, &id, &found, answer)) return;
    if (found.own) {
        answer_error(answer, ANSWER_FORBIDDEN, "it is your own request; another person has to approve it");
        return;
    }
    if (found.hidden) {
        answer_error(answer, ANSWER_FORBIDDEN,
                     "it gives a task parameters that you do not see whole, so you may not approve it here");
        return;
    }
    result.done = (size_t)found.tasks;
    if (part.dry_run && !found.waits) status = TP_EXISTS;
    if (!part.dry_run) status = tp_approve(conn, id, request->who, part.why, &result);
    answer_decision(request, "approve", &part, status, result.done, answer);
}

void act_refuse(tp_conn *conn, const struct request *request, struct answer *answer) {
    struct body_common part;
    struct found found;
    const char *id = NULL;
    tp_status status = TP_OK;

    if (!take_request(conn, request, &part, &id, &found, answer)) return;
    if (!found.own && !request->approves) {
        answer_error(answer, ANSWER_FORBIDDEN, "only an approver refuses what others asked for");
        return;
    }
    if (part.dry_run && !found.waits) status = TP_EXISTS;
    if (!part.dry_run) status = tp_refuse(conn, id, request->who, part.why);
    answer_decision(request, "refuse", &part, status, (size_t)found.tasks, answer);
}

/* ---- Settings ------------------------------------------------------------------------------------------ */

static void answer_setting(const struct request *request, const char *name, const struct body_common *part,
                           tp_status status, const char *id, struct answer *answer) {
    if (status == TP_REQUESTED)
        body_requested(request, name, id, 0, answer);
    else if (status == TP_OK)
        body_answer(request, name, part, 1, answer);
    else
        answer_tp(answer, status);
}

void act_four_eyes(tp_conn *conn, const struct request *request, struct answer *answer) {
    static const char *const names[] = {"on", "retries", NULL};
    tp_four_eyes eyes = TP_FOUR_EYES_INIT;
    struct body_common part;
    bool on = false;
    tp_status status = TP_OK;

    if (!body_common(request, names, &part, answer)) return;
    status = tp_four_eyes_get(conn, &eyes);
    if (status < 0) {
        answer_tp(answer, status);
        return;
    }
    if (!body_member(request, "on")) {
        answer_error(answer, ANSWER_BAD, "on is missing");
        return;
    }
    if (!body_yes_no(request, "on", &on, answer) ||
        !body_number(request, "retries", 0, INT32_MAX, &eyes.retry_max, answer) ||
        !body_expected(&part, 1, answer))
        return;
    eyes.on = on;
    if (!part.dry_run) status = tp_four_eyes_set(conn, &eyes, request->who, part.why);
    answer_setting(request, "four-eyes", &part, status, eyes.request_id, answer);
}

void act_retention(tp_conn *conn, const struct request *request, struct answer *answer) {
    static const char *const names[] = {"pool", "keep_ms", NULL};
    struct body_common part;
    const char *pool = NULL;
    int64_t keep_ms = -1;
    tp_status status = TP_OK;

    if (!body_common(request, names, &part, answer) || !body_needed(request, "pool", &pool, answer) ||
        !body_number(request, "keep_ms", 0, TP_DURATION_MAX, &keep_ms, answer))
        return;
    if (keep_ms < 0) {
        answer_error(answer, ANSWER_BAD, "keep_ms is missing; 0 is for ever");
        return;
    }
    if (!body_expected(&part, 1, answer)) return;
    if (!part.dry_run) status = tp_retention_set(conn, pool, keep_ms, request->who);
    answer_setting(request, "retention", &part, status, NULL, answer);
}
