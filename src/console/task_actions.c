/* Actions on tasks: retry, cancel, skip and release, as the command line has them. See actions.h. */
#include <json-c/json.h>

#include "actions.h"
#include "body.h"
#include "common/messages.h"
#include "common/selected.h"

/* ---- What is selected ---------------------------------------------------------------------------------- */

static bool take_selection(const struct request *request, tp_selection *action, const char **ids,
                           struct answer *answer) {
    tp_list_request list = TP_LIST_INIT;
    json_object *selection = body_member(request, "selection"), *id = body_member(request, "id");

    if (selection && !request_selection_of(selection, &list, ids, answer)) return false;
    if (id && !list.id_count) {
        if (!body_text(request, "id", BODY_TEXT_MAX, &ids[0], answer)) return false;
        list.ids = ids;
        list.id_count = 1;
    }
    if (!request_is_narrow(&list)) {
        answer_error(answer, ANSWER_BAD, "nothing was selected; give an id, a handler or another part of it");
        return false;
    }
    selected_for_action(&list, action);
    return true;
}

/* What a dry run counted is told apart by the database's clock: what changed later is not acted upon, as it
 * is not by a request of four eyes. A release has no such bound, since workers change what they hold all the
 * time; nor has a cancel of tasks that were named, which are meant whoever has them by then. Sets the
 * selection's, and *until, that of a dry run. */
static tp_status bound(tp_conn *conn, const struct body_common *part, tp_action which, tp_selection *action,
                       int64_t *until) {
    bool named = which == TP_ACTION_CANCEL && action->id_count;
    tp_status status = TP_OK;

    if (part->dry_run && !*until && !named && which != TP_ACTION_RELEASE) {
        status = tp_now(conn, until);
        *until -= 1; /* what changes in this very millisecond may come after the count */
    }
    if (*until && (!action->until || *until < action->until)) action->until = *until;
    return status;
}

/* ---- What came of it ----------------------------------------------------------------------------------- */

/* Of a dry run also until when those had changed that were counted. */
static void answer_operated(const struct request *request, const char *name, tp_action which,
                            const struct body_common *part, const tp_operated *result, int64_t until,
                            struct answer *answer) {
    struct member more[3] = {{.key = NULL}}, *end = more;

    if (part->dry_run && until) *end++ = (struct member)MEMBER_NUMBER("until", until);
    if (which == TP_ACTION_CANCEL) *end = (struct member)MEMBER_NUMBER("asked", (int64_t)result->asked);
    if (which == TP_ACTION_RETRY) *end = (struct member)MEMBER_NUMBER("unstored", (int64_t)result->unstored);
    body_answer_more(request, name, part, result->done + result->asked, more, answer);
}

/* Whatever it has come to meanwhile, the answer says so; no number is held to. */
static void cancel_one(tp_conn *conn, const struct request *request, const struct body_common *part,
                       const tp_selection *action, struct answer *answer) {
    tp_cancelled result = TP_CANCELLED_INIT;
    tp_status status = tp_cancel(conn, action->ids[0], action->who, action->why, &result);
    bool asked = result.answer == TP_CANCEL_ASKED;

    if (status == TP_REQUESTED) {
        body_requested(request, "cancel", result.request_id, 1, answer);
    } else if (status < TP_OK) {
        answer_tp(answer, status);
    } else {
        body_answer_more(request, "cancel", part, asked || result.answer == TP_CANCEL_SKIPPED,
                         MEMBERS(MEMBER_NUMBER("asked", asked),
                                 MEMBER_TEXT("answer", cancel_word(result.answer)),
                                 MEMBER_TEXT("state", result.state)),
                         answer);
    }
}

/* ---- Doing it ------------------------------------------------------------------------------------------ */

/* What a dry run answers, and what a number is held to. False: it is not that many, which is answered. */
static bool count_first(tp_conn *conn, tp_action which, const struct body_common *part, tp_selection *action,
                        tp_operated *result, tp_status *status, struct answer *answer) {
    if (!part->dry_run && part->expect < 0) return true;
    action->dry_run = 1;
    *status = tp_operate(conn, which, action, result);
    action->dry_run = 0;
    return *status != TP_OK || body_expected(part, result->done + result->asked, answer);
}

static tp_status act(tp_conn *conn, tp_action which, const struct body_common *part, tp_selection *action,
                     tp_operated *result) {
    *result = (tp_operated)TP_OPERATED_INIT;
    if (part->expect == 0) return TP_OK;
    if (part->expect > 0) action->limit = (size_t)part->expect; /* what comes meanwhile is not touched */
    return tp_operate(conn, which, action, result);
}

static void operate(tp_conn *conn, const struct request *request, struct answer *answer, const char *name,
                    tp_action which) {
    static const char *const all_names[] = {"until", "selection", "id", NULL};
    tp_selection action = TP_SELECTION_INIT;
    tp_operated result = TP_OPERATED_INIT;
    struct body_common part;
    const char *ids[REQUEST_IDS_MAX];
    int64_t until = 0;
    tp_status status;

    if (!body_common(request, all_names + (which == TP_ACTION_RELEASE), &part, answer) ||
        !body_number(request, "until", 1, TP_TIME_MAX, &until, answer) ||
        !take_selection(request, &action, ids, answer))
        return;
    action.who = request->who;
    action.why = part.why;
    status = bound(conn, &part, which, &action, &until);
    if (status == TP_OK && which == TP_ACTION_CANCEL && !part.dry_run && selected_is_one_id(&action)) {
        cancel_one(conn, request, &part, &action, answer);
        return;
    }
    if (status == TP_OK && !count_first(conn, which, &part, &action, &result, &status, answer)) return;
    if (status == TP_OK && !part.dry_run) status = act(conn, which, &part, &action, &result);
    if (status == TP_REQUESTED)
        body_requested(request, name, result.request_id, result.done, answer);
    else if (status == TP_OK)
        answer_operated(request, name, which, &part, &result, until, answer);
    else
        answer_tp(answer, status);
}

void act_retry(tp_conn *conn, const struct request *request, struct answer *answer) {
    operate(conn, request, answer, "retry", TP_ACTION_RETRY);
}

void act_cancel(tp_conn *conn, const struct request *request, struct answer *answer) {
    operate(conn, request, answer, "cancel", TP_ACTION_CANCEL);
}

void act_skip(tp_conn *conn, const struct request *request, struct answer *answer) {
    operate(conn, request, answer, "skip", TP_ACTION_SKIP);
}

void act_release(tp_conn *conn, const struct request *request, struct answer *answer) {
    operate(conn, request, answer, "release", TP_ACTION_RELEASE);
}
