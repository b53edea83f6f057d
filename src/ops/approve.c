/* The second person's calls. An approval and what it carries out are one transaction: the request's row is
 * taken first, so that of several approvers one does it, then each of its tasks is locked and compared, then
 * changed. Whatever is not as it was rolls all of it back. Read next: request.h. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "base/utf8.h"
#include "ops/four_eyes.h"
#include "ops/request.h"

struct approval {
    tp_conn *conn;
    struct tpi_texts texts;
    tp_request request;
    tp_action action; /* of those that tp_operate knows */
    char id[TPI_UUID_SIZE], who[TPI_WHO_MAX + 1], why[TP_REASON_MAX + 1];
    char reason[TP_REASON_MAX + 1]; /* of what is carried out */
    char stale[200];                /* why it cannot be */
    size_t done;
};

/* ---- The rows ------------------------------------------------------------------------------------------ */

static const struct held_pool {
    const char *name;
    bool holds; /* not events: they never change, and no other gets the id of one */
    bool claimed;
    enum tpi_statement hold;
} pools[] = {{"pending", true, true, TPI_S_request_hold_pending},
             {"failed", true, false, TPI_S_request_hold_failed},
             {"finished", true, false, TPI_S_request_hold_finished},
             {"once", true, false, TPI_S_request_hold_once},
             {"history", false, false, TPI_S_request_keys}};
enum { POOLS = sizeof pools / sizeof pools[0], ONCE = 3 };

static tp_status read_keys(struct approval *approval, const struct held_pool *pool, struct tpi_keys *keys) {
    struct tpi_args args = {0};
    tpi_args_text(&args, TPI_P_id, approval->id);
    tpi_args_text(&args, TPI_P_pool, pool->name);
    return tpi_store_keys(&approval->conn->store, TPI_S_request_keys, &args, keys);
}

static void say(struct approval *approval, const char *what, const char *id) {
    snprintf(approval->stale, sizeof approval->stale,
             "%s%s; nothing was changed, and the request is over: ask anew", what, id);
}

/* TP_STALE, and who approves is told when it is because of a claim. */
static tp_status say_stale(struct approval *approval, struct tpi_args *args) {
    static const struct tpi_column only[] = TPI_COLUMN_ONLY(UUID);
    const char *id = NULL;
    struct tpi_texts texts = {0};
    bool is_old = false;
    tp_status status = tpi_store_exists(&approval->conn->store, TPI_S_request_unmarked, args, &is_old);
    if (is_old) say(approval, "it was written by an older version, which did not note the runs", "");
    if (status != TP_OK || is_old) return status == TP_OK ? TP_STALE : status;
    status = tpi_store_read(&approval->conn->store, TPI_S_request_claimed, args, only, &texts, &id);
    if (status == TP_OK) say(approval, "a run that began since it was asked for has task ", id);
    tpi_texts_free(&texts);
    return status == TP_OK || status == TP_NONE ? TP_STALE : status;
}

/* TP_STALE: one of them is gone, or not as it was when the request was written. */
static tp_status hold(struct approval *approval, const struct held_pool *pool, const struct tpi_keys *keys) {
    struct tpi_store *store = &approval->conn->store;
    struct tpi_args args = {0};
    tp_status status = TP_OK;
    tpi_args_text(&args, TPI_P_id, approval->id);
    for (size_t at = 0, some; pool->holds && at < keys->count && status == TP_OK; at += some) {
        int64_t rows = 0, running = 0;
        some = keys->count - at < TPI_CHUNK ? keys->count - at : TPI_CHUNK;
        tpi_args_list(&args, keys->all + at, some);
        status = tpi_store_change(store, pool->hold, &args, &rows);
        bool rest = status == TP_OK && pool->claimed && rows < (int64_t)some;
        if (rest) status = tpi_store_change(store, TPI_S_request_hold_run, &args, &running);
        if (status != TP_OK || rows + running == (int64_t)some) continue;
        status = rest ? say_stale(approval, &args) : TP_STALE;
    }
    return status;
}

static tp_status change(struct approval *approval, const struct held_pool *pool,
                        const struct tpi_keys *keys) {
    const tp_request *request = &approval->request;
    size_t done = 0;
    if (!keys->count) return TP_OK;
    if (strcmp(request->act, TPI_ACT_EDIT) == 0) {
        approval->done++;
        return tpi_edit_given(approval->conn, keys->all[0], request, request->asked_by, approval->reason);
    }
    tp_status status = tpi_operate_given(approval->conn, approval->action, pool->name, keys->all, keys->count,
                                         request->asked_by, approval->reason, &done);
    approval->done += done;
    return status == TP_OK && done != keys->count ? TP_STALE : status;
}

/* All rows are locked before the first is changed, and before the audit's head is. */
static tp_status change_all(struct approval *approval, struct tpi_keys keys[POOLS]) {
    const tp_request *request = &approval->request;
    size_t found = 0;
    tp_status status = TP_OK;
    for (size_t i = 0; i < POOLS && status == TP_OK; i++) {
        status = read_keys(approval, &pools[i], &keys[i]);
        if (status == TP_OK) status = hold(approval, &pools[i], &keys[i]);
        found += keys[i].count;
    }
    if (status == TP_OK && found != (size_t)request->tasks) return TP_STALE;
    if (status == TP_OK && strcmp(request->act, TPI_ACT_ERASE) == 0)
        return tpi_erase_given(approval->conn, request->biz_key, found - keys[ONCE].count,
                               keys[ONCE].count != 0, request->asked_by, approval->reason, &approval->done);
    for (size_t i = 0; i < POOLS && status == TP_OK; i++)
        status = change(approval, &pools[i], &keys[i]);
    return status;
}

static tp_status carry_out_rows(struct approval *approval) {
    struct tpi_keys keys[POOLS] = {{.count = 0}};
    tp_status status = change_all(approval, keys);
    for (size_t i = 0; i < POOLS; i++)
        tpi_keys_free(&keys[i]);
    return status;
}

/* ---- Carrying it out ----------------------------------------------------------------------------------- */

static tp_status find_action(struct approval *approval) {
    static const struct {
        const char *act;
        tp_action action;
    } all[] = {{TPI_ACT_RETRY, TP_ACTION_RETRY},
               {TPI_ACT_SKIP, TP_ACTION_SKIP},
               {TPI_ACT_CANCEL, TP_ACTION_CANCEL},
               {TPI_ACT_PURGE, TP_ACTION_PURGE}};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        if (strcmp(approval->request.act, all[i].act) != 0) continue;
        approval->action = all[i].action;
        return TP_OK;
    }
    return tpi_error(TP_UNSUPPORTED,
                     "the request asks for '%s', which this version of the library does not know; approve it "
                     "by the version that wrote it",
                     approval->request.act);
}

/* A positive answer, or TP_MISUSE: it cannot be done any more. */
static tp_status do_it(struct approval *approval) {
    const tp_request *request = &approval->request;
    tp_conn *conn = approval->conn;
    if (strcmp(request->act, TPI_ACT_FOUR_EYES) == 0)
        return tpi_four_eyes_write(conn, request->selection, request->asked_by, approval->reason);
    if (strcmp(request->act, TPI_ACT_RETENTION) == 0)
        return tpi_retention_write(conn, request->selection, request->asked_by);
    bool one = strcmp(request->act, TPI_ACT_EDIT) == 0 || strcmp(request->act, TPI_ACT_ERASE) == 0;
    tp_status status = one ? TP_OK : find_action(approval);
    return status == TP_OK ? carry_out_rows(approval) : status;
}

static tp_status carry_out(struct approval *approval) {
    char outer[TPI_UUID_SIZE];
    tpi_request_enter(approval->conn, approval->id, outer);
    tp_status status = do_it(approval);
    tpi_request_enter(approval->conn, outer, NULL);
    return status;
}

static tp_status take(struct approval *approval) {
    struct tpi_args args = {0};
    tpi_args_text(&args, TPI_P_id, approval->id);
    tpi_args_text(&args, TPI_P_who, approval->who);
    tpi_args_text(&args, TPI_P_reason, approval->why);
    return tpi_store_change_one(&approval->conn->store, TPI_S_request_run, &args);
}

/* TP_NONE: somebody else was quicker. Both positive answers roll back. */
static tp_status approve(struct approval *approval, struct tpi_kept_error *answer) {
    tp_conn *conn = approval->conn;
    struct tpi_scope scope;
    approval->done = 0;
    tp_status status = tpi_scope_begin(conn, &scope), found = TP_OK;
    if (status == TP_OK) status = take(approval);
    if (status == TP_NONE) found = TP_NONE;
    if (status == TP_OK) {
        status = carry_out(approval);
        if (status > TP_OK || status == TP_MISUSE) found = TP_STALE;
    }
    if (found != TP_OK) status = tpi_error(TP_CONFLICT, "not to be committed");
    if (status == TP_OK)
        status = tpi_request_end(conn, &approval->request, TPI_REQUEST_RUNNING, TPI_REQUEST_DONE,
                                 approval->who, approval->why, approval->done);
    status = tpi_scope_end(conn, &scope, status);
    *answer = tpi_error_keep();
    return found != TP_OK ? found : status;
}

static tp_status end(struct approval *approval, const char *state) {
    struct tpi_scope scope;
    tp_status status = tpi_scope_begin(approval->conn, &scope);
    if (status == TP_OK)
        status = tpi_request_end(approval->conn, &approval->request, TPI_REQUEST_WAITING, state,
                                 approval->who, approval->why, 0);
    return tpi_scope_end(approval->conn, &scope, status);
}

/* ---- What is known of it ------------------------------------------------------------------------------- */

static bool is_in(const struct approval *approval, const char *state) {
    return strcmp(approval->request.state, state) == 0;
}

/* TP_REQUESTED: it waits, and may be decided. TP_OK: this person has done so, and it became state. TP_STALE:
 * it could not. TP_EXISTS: it was decided otherwise, or has expired. */
static tp_status look(struct approval *approval, const char *state) {
    const tp_request *request = &approval->request;
    int64_t now = 0;
    tpi_texts_clear(&approval->texts);
    tp_status status = tpi_request_find(approval->conn, approval->id, &approval->texts, &approval->request);
    if (status == TP_OK) status = tpi_ask_now(approval->conn, &now);
    if (status == TP_NONE) return TP_NONE;
    if (status != TP_OK) return status;
    if (is_in(approval, TPI_REQUEST_WAITING)) {
        if (request->expires_at > now) return TP_REQUESTED;
        status = tpi_request_expire(approval->conn);
        return status == TP_OK ? TP_EXISTS : status;
    }
    bool own = strcmp(request->decided_by, approval->who) == 0;
    if (own && is_in(approval, state)) return TP_OK;
    return own && is_in(approval, TPI_REQUEST_STALE) && strcmp(state, TPI_REQUEST_DONE) == 0 ? TP_STALE
                                                                                             : TP_EXISTS;
}

static tp_status begin(tp_conn *conn, const char *id, const char *who, const char *why, const char *name,
                       struct approval *approval) {
    tp_status status = tpi_conn_ready_alone(conn, name);
    approval->conn = conn;
    say(approval, "what it was about is no longer as it was", "");
    if (status != TP_OK) return status;
    if (!who || !*who)
        return tpi_error(TP_MISUSE, "%s: who is required; it is recorded in the history", name);
    tpi_utf8_copy(who, approval->who, sizeof approval->who);
    tpi_utf8_copy(why ? why : "", approval->why, sizeof approval->why);
    return tpi_check_uuid("the request's id", id, approval->id);
}

/* One who asks at his desk and approves on a server, or in the console, is one person. */
int tp_same_person(const char *one, const char *other) {
    if (!one || !other) return 0;
    size_t length = strcspn(one, "@");
    return strcspn(other, "@") == length && strncasecmp(one, other, length) == 0;
}

/* ---- The calls ----------------------------------------------------------------------------------------- */

/* The reason of what is carried out: why it was asked for, and who approved it. */
static void say_reason(struct approval *approval) {
    char who[TPI_WHO_MAX + 16], why[TP_REASON_MAX + 1], text[2 * TP_REASON_MAX];
    snprintf(who, sizeof who, "%sapproved by %s", *approval->request.why ? "; " : "", approval->who);
    /* A long why is cut, and not who approved. */
    tpi_utf8_copy(approval->request.why, why, sizeof why - strlen(who));
    snprintf(text, sizeof text, "%s%s", why, who);
    tpi_utf8_copy(text, approval->reason, sizeof approval->reason);
}

/* What was asked for; or, when that has changed since, the request's end. */
static tp_status carry_out_or_end(struct approval *approval) {
    struct tpi_kept_error kept;
    if (tp_same_person(approval->request.asked_by, approval->who))
        return tpi_error(TP_MISUSE, "request %s is %s's own; another person has to approve it", approval->id,
                         approval->request.asked_by);
    say_reason(approval);
    tp_status status = approve(approval, &kept);
    if (status < TP_OK) tpi_error_restore(&kept);
    if (status != TP_STALE) return status;
    status = end(approval, TPI_REQUEST_STALE);
    return status == TP_OK ? TP_STALE : status;
}

static tp_status refuse(struct approval *approval) {
    return end(approval, TPI_REQUEST_REFUSED);
}

/* Of a request that waits: act makes it become state. TP_NONE of act: somebody else was quicker. */
static tp_status decide(struct approval *approval, tp_status (*act)(struct approval *approval),
                        const char *state) {
    tp_status status = look(approval, state);
    if (status != TP_REQUESTED) return status;
    status = act(approval);
    if (status != TP_NONE) return status;
    status = look(approval, state);
    return status == TP_REQUESTED ? tpi_error(TP_CONFLICT, "another session got in the way") : status;
}

tp_status tp_approve(tp_conn *conn, const char *id, const char *who, const char *why, tp_operated *result) {
    struct approval approval = {.done = 0};
    tp_operated ours = TP_OPERATED_INIT;
    const char *fault = result ? tpi_sized_fault(TPI_SIZED_operated, result) : NULL;
    tp_status status = begin(conn, id, who, why, "tp_approve", &approval);
    if (status == TP_OK && fault) status = tpi_error(TP_MISUSE, "%s", fault);
    if (status == TP_OK) {
        status = decide(&approval, carry_out_or_end, TPI_REQUEST_DONE);
        ours.done = approval.done ? approval.done : (size_t)approval.request.done;
        memcpy(ours.request_id, approval.id, sizeof approval.id);
        if (status == TP_OK && result) tpi_sized_write(TPI_SIZED_operated, &ours, result);
    }
    tpi_texts_free(&approval.texts);
    return status == TP_STALE ? tpi_error(TP_STALE, "%s", approval.stale) : status;
}

tp_status tp_refuse(tp_conn *conn, const char *id, const char *who, const char *why) {
    struct approval approval = {.done = 0};
    tp_status status = begin(conn, id, who, why, "tp_refuse", &approval);
    if (status == TP_OK) status = decide(&approval, refuse, TPI_REQUEST_REFUSED);
    tpi_texts_free(&approval.texts);
    return status;
}
