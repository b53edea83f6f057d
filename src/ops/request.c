/* See request.h. A request and its rows are written in one transaction, under an id that the caller keeps; so
 * is its end. */
#include "ops/request.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/utf8.h"
#include "ops/audit.h"
#include "ops/refused.h"
#include "store/cursor.h"

static const struct tpi_column columns[] = {
    TPI_COLUMN(UUID, tp_request, id),
    TPI_COLUMN(TEXT, tp_request, act),
    TPI_COLUMN(TEXT, tp_request, state),
    TPI_COLUMN(TEXT, tp_request, pool),
    TPI_COLUMN(TEXT, tp_request, selection),
    TPI_COLUMN(NUMBER, tp_request, tasks),
    TPI_COLUMN(NUMBER, tp_request, done),
    TPI_COLUMN(TEXT, tp_request, asked_by),
    TPI_COLUMN(TEXT, tp_request, why),
    TPI_COLUMN(NUMBER, tp_request, created_at),
    TPI_COLUMN(NUMBER, tp_request, expires_at),
    TPI_COLUMN(TEXT, tp_request, decided_by),
    TPI_COLUMN(TEXT, tp_request, decision),
    TPI_COLUMN(NUMBER, tp_request, decided_at),
    TPI_COLUMN(INT, tp_request, fields),
    TPI_COLUMN(TEXT, tp_request, params),
    TPI_COLUMN(TEXT, tp_request, biz_key),
    TPI_COLUMN(TEXT, tp_request, dedup_key),
    TPI_COLUMN(INT, tp_request, priority),
    TPI_COLUMN(NUMBER, tp_request, due_at),
    TPI_COLUMN(INT, tp_request, max_failures),
    TPI_COLUMN(INT, tp_request, retry),
    TPI_COLUMN_END,
};

/* ---- Reading ------------------------------------------------------------------------------------------- */

tp_status tpi_request_find(tp_conn *conn, const char *id, struct tpi_texts *texts, tp_request *request) {
    struct tpi_args args = {0};
    tpi_args_text(&args, TPI_P_id, id);
    return tpi_store_read(&conn->store, TPI_S_request_find, &args, columns, texts, request);
}

/* One that nobody decided in time is expired, whether or not somebody has written that down. */
static void say_expired(tp_request *request, int64_t now) {
    if (strcmp(request->state, TPI_REQUEST_WAITING) != 0 || request->expires_at > now) return;
    request->state = TPI_REQUEST_EXPIRED;
    request->params = request->biz_key = request->dedup_key = "";
}

static bool is_asked(const tp_request *request, const char *state) {
    return !state || strcmp(request->state, state) == 0;
}

/* Those that are expired still say that they wait. */
static const char *stored_state(const char *state) {
    return state && strcmp(state, TPI_REQUEST_EXPIRED) == 0 ? NULL : state;
}

tp_status tp_request_each(tp_conn *conn, const char *id, const char *state, size_t limit, tp_request_fn see,
                          void *arg) {
    enum { DEFAULT_LIMIT = 100 };
    char normal[TPI_UUID_SIZE];
    struct tpi_args args = {0};
    struct tpi_cursor cursor;
    tp_request request;
    int64_t now = 0;
    size_t seen = 0;
    tp_status status = tpi_conn_ready(conn);
    if (status != TP_OK) return status;
    if (!see) return tpi_error(TP_MISUSE, "tp_request_each: see is NULL");
    if (limit > INT32_MAX) return tpi_error(TP_TOOBIG, "a limit of %zu; at most %d", limit, INT32_MAX);
    if (id) status = tpi_check_uuid("the request's id", id, normal);
    if (status == TP_OK) status = tpi_ask_now(conn, &now);
    if (status != TP_OK) return status;
    if (id) tpi_args_text(&args, TPI_P_id, normal);
    tpi_args_text(&args, TPI_P_state, stored_state(state));
    if (!limit) limit = DEFAULT_LIMIT;
    tpi_args_number(&args, TPI_P_limit, INT32_MAX);
    tpi_cursor_open(&cursor, &conn->store, id ? TPI_S_request_find : TPI_S_request_list, &args, columns,
                    INT32_MAX);
    while (seen < limit && tpi_cursor_next(&cursor, &request)) {
        say_expired(&request, now);
        if (!is_asked(&request, state)) continue;
        seen++;
        see(&request, arg);
    }
    status = tpi_cursor_close(&cursor);
    return status == TP_OK && !seen ? TP_NONE : status;
}

tp_status tp_requests_waiting(tp_conn *conn, int64_t *count, int64_t *oldest_at) {
    struct waiting {
        int64_t count, oldest_at;
    } waiting = {0, 0};
    static const struct tpi_column both[] = {TPI_COLUMN(NUMBER, struct waiting, count),
                                             TPI_COLUMN(NUMBER, struct waiting, oldest_at), TPI_COLUMN_END};
    struct tpi_args args = {0};
    tp_status status = tpi_conn_ready(conn);
    if (status != TP_OK) return status;
    if (!count) return tpi_error(TP_MISUSE, "tp_requests_waiting: count is NULL");
    status = tpi_store_read(&conn->store, TPI_S_request_waiting, &args, both, NULL, &waiting);
    if (status != TP_OK) return status;
    *count = waiting.count;
    if (oldest_at) *oldest_at = waiting.oldest_at;
    return TP_OK;
}

/* ---- What was selected --------------------------------------------------------------------------------- */

static void say(struct tpi_buf *text, const char *what, const char *value) {
    if (!value) return;
    if (text->length) tpi_buf_char(text, ' ');
    tpi_buf_text(text, what);
    tpi_buf_char(text, '=');
    tpi_buf_text(text, value);
}

static void say_number(struct tpi_buf *text, const char *what, int64_t value) {
    char digits[24];
    if (!value) return;
    snprintf(digits, sizeof digits, "%lld", (long long)value);
    say(text, what, digits);
}

/* Ids as their number and a digest of them. */
static void say_ids(struct tpi_buf *text, const tp_selection *selection) {
    char digest[TPI_UUID_SIZE] = "", name[2 * TPI_UUID_SIZE];
    if (!selection->id_count) return;
    for (size_t i = 0; i < selection->id_count; i++) {
        snprintf(name, sizeof name, "%s%.36s", digest, selection->ids[i]);
        tpi_uuid_named(name, digest);
    }
    say_number(text, "ids", (int64_t)selection->id_count);
    say(text, "digest", digest);
}

/* Keys may be private and are not in it, but for their digest. */
static void say_key(struct tpi_buf *text, const char *what, const char *key) {
    char digest[TPI_UUID_SIZE];
    if (!key) return;
    tpi_uuid_named(key, digest);
    say(text, what, digest);
}

tp_status tpi_request_selection(const struct tpi_operation *op, char out[TPI_SELECTION_SIZE]) {
    const tp_selection *selection = op->selection;
    struct tpi_buf text = {0};
    say_ids(&text, selection);
    say(&text, "pool", selection->pool);
    say(&text, "handler", selection->handler);
    say(&text, "state", selection->state);
    say(&text, "reason", selection->reason);
    say(&text, "reason_like", selection->reason_like);
    say(&text, "worker", selection->worker);
    say_key(&text, "biz_key_digest", selection->biz_key);
    say_key(&text, "dedup_key_digest", selection->dedup_key);
    say(&text, "group", selection->group);
    if (selection->gate && *selection->gate == '=')
        say_key(&text, "order_key_digest", selection->gate + 1);
    else
        say(&text, "gate", selection->gate);
    say_number(&text, "older_ms", selection->older_ms);
    say_number(&text, "since", selection->since);
    say_number(&text, "until", selection->until);
    say_number(&text, "limit", (int64_t)selection->limit);
    bool failed = text.failed;
    tpi_utf8_copy(text.data ? text.data : "", out, TPI_SELECTION_SIZE);
    tpi_buf_free(&text);
    return failed ? tpi_error(TP_NOMEM, "out of memory") : TP_OK;
}

/* ---- Events -------------------------------------------------------------------------------------------- */

void tpi_request_enter(tp_conn *conn, const char *id, char outer[TPI_UUID_SIZE]) {
    if (outer) memcpy(outer, conn->actor.request_id, TPI_UUID_SIZE);
    tpi_utf8_copy(id, conn->actor.request_id, TPI_UUID_SIZE);
}

static tp_status note_event(tp_conn *conn, const char *word, const char *id, const char *act, size_t tasks,
                            const char *who, const char *why) {
    char text[TP_REASON_MAX + 200];
    snprintf(text, sizeof text, "request %s: %s, %zu%s%s", id, act, tasks, *why ? ": " : "", why);
    text[tpi_utf8_cut(text, strlen(text), TP_REASON_MAX)] = '\0';
    struct tpi_history_event event = {.event = word, .reason = text};
    struct tpi_act done = {.action = word, .who = who, .why = why, .detail = act, .changed = (int64_t)tasks};
    char outer[TPI_UUID_SIZE];
    tpi_request_enter(conn, id, outer);
    tp_status status = tpi_audit_event(conn, &done, &event);
    tpi_request_enter(conn, outer, NULL);
    return status;
}

/* ---- Writing ------------------------------------------------------------------------------------------- */

tp_status tpi_request_note(tp_conn *conn, const char *id, enum tpi_statement statement, struct tpi_args *args,
                           const char *const *keys, size_t key_count, size_t *count) {
    tp_status status = TP_OK;
    tpi_args_text(args, TPI_P_id, id);
    for (size_t at = 0, some; at < key_count && status == TP_OK; at += some) {
        int64_t rows = 0;
        some = key_count - at < TPI_CHUNK ? key_count - at : TPI_CHUNK;
        tpi_args_list(args, keys + at, some);
        status = tpi_store_change(&conn->store, statement, args, &rows);
        *count += (size_t)rows;
        if (status == TP_OK && *count > TP_REQUEST_ROWS_MAX)
            status = tpi_error(TP_TOOBIG,
                               "more than %d rows: too many for one request; ask for parts of them, by a "
                               "limit or a time",
                               TP_REQUEST_ROWS_MAX);
    }
    return status;
}

static tp_status add(tp_conn *conn, const struct tpi_new_request *asked, const char *id, size_t count) {
    const tp_edit_request *edit = asked->edit;
    struct tpi_args args = {0};
    tpi_args_text(&args, TPI_P_id, id);
    tpi_args_text(&args, TPI_P_event, asked->act);
    tpi_args_text(&args, TPI_P_pool, asked->pool);
    tpi_args_text(&args, TPI_P_value, asked->selection);
    tpi_args_number(&args, TPI_P_done, (int64_t)count);
    tpi_args_text(&args, TPI_P_who, asked->who);
    tpi_args_text(&args, TPI_P_reason, asked->why);
    tpi_args_number(&args, TPI_P_delay_ms, asked->expire_ms);
    tpi_args_text(&args, TPI_P_biz_key, edit ? edit->biz_key : asked->biz_key);
    if (edit) {
        tpi_args_number(&args, TPI_P_fields, edit->fields);
        tpi_args_text(&args, TPI_P_params, edit->params);
        tpi_args_text(&args, TPI_P_dedup_key, edit->dedup_key);
        tpi_args_number(&args, TPI_P_priority, edit->priority);
        tpi_args_number(&args, TPI_P_due_at, edit->due_at);
        tpi_args_number(&args, TPI_P_max_failures, edit->max_failures);
        tpi_args_number(&args, TPI_P_retried, edit->retry);
    }
    tp_status status = tpi_store_change_one(&conn->store, TPI_S_request_add, &args);
    return status == TP_NONE ? tpi_refused_silently(&conn->store, "stored no row", "request") : status;
}

static tp_status write_new(tp_conn *conn, const struct tpi_new_request *asked, const char *id,
                           tpi_request_rows_fn *note, void *arg, size_t *count) {
    struct tpi_scope scope;
    *count = 0;
    tp_status status = tpi_scope_begin(conn, &scope);
    if (status == TP_OK && note) status = note(conn, id, arg, count);
    if (status == TP_OK && !*count && !asked->empty) status = TP_NONE;
    if (status == TP_OK) status = add(conn, asked, id, *count);
    if (status == TP_OK)
        status = note_event(conn, TPI_HISTORY_ASKED, id, asked->act, *count, asked->who, asked->why);
    return tpi_scope_end(conn, &scope, status);
}

static bool same(const char *stored, const char *wanted) {
    return strcmp(stored, wanted ? wanted : "") == 0;
}

/* Its content is not kept when it is over; then the rest must do. */
static bool is_the_same(const tp_request *request, const struct tpi_new_request *asked) {
    static const tp_edit_request none = TP_EDIT_INIT;
    const tp_edit_request *edit = asked->edit ? asked->edit : &none;
    if (!same(request->act, asked->act) || !same(request->asked_by, asked->who) ||
        (*request->selection && !same(request->selection, asked->selection)))
        return false;
    if (request->fields != edit->fields || request->retry != edit->retry ||
        request->priority != edit->priority || request->due_at != edit->due_at ||
        request->max_failures != edit->max_failures)
        return false;
    return strcmp(request->state, TPI_REQUEST_WAITING) != 0 ||
           (same(request->params, edit->params) && same(request->dedup_key, edit->dedup_key) &&
            same(request->biz_key, asked->edit ? edit->biz_key : asked->biz_key));
}

static tp_status answer_of(const tp_request *request) {
    if (strcmp(request->state, TPI_REQUEST_WAITING) == 0) return TP_REQUESTED;
    return strcmp(request->state, TPI_REQUEST_DONE) == 0 ? TP_OK : TP_STALE;
}

tp_status tpi_request_earlier(tp_conn *conn, const struct tpi_new_request *asked, const char *id,
                              size_t *count) {
    char normal[TPI_UUID_SIZE];
    struct tpi_texts texts = {0};
    tp_request request;
    int64_t now = 0;
    if (!*id) return TP_NONE;
    tp_status status = tpi_check_uuid("the request's id", id, normal);
    if (status == TP_OK) status = tpi_request_find(conn, normal, &texts, &request);
    if (status == TP_OK) status = tpi_ask_now(conn, &now);
    if (status == TP_OK) {
        bool known = is_the_same(&request, asked);
        say_expired(&request, now);
        status = known ? answer_of(&request)
                       : tpi_error(TP_MISUSE,
                                   "request %s is of something else; nothing was written. An id stands for "
                                   "one request: start another with an empty one",
                                   normal);
        *count = (size_t)(status == TP_OK ? request.done : request.tasks);
    }
    tpi_texts_free(&texts);
    return status;
}

/* Who may only ask may not end requests; and what is in the way of that, which others do as well, is not in
 * the way of a request of his own. */
static tp_status expire_if_allowed(tp_conn *conn) {
    tp_status status = tpi_request_expire(conn);
    if (status == TP_CONFLICT || status == TP_TIMEOUT) return TP_OK;
    return status == TP_DB && tpi_link_failed_as(TPI_CLASS_DENIED) ? TP_OK : status;
}

tp_status tpi_request_put(tp_conn *conn, const struct tpi_new_request *asked, char *id,
                          tpi_request_rows_fn *note, void *arg, size_t *count) {
    char normal[TPI_UUID_SIZE];
    if (!*id)
        tpi_uuid_ordered(normal);
    else if (!tpi_uuid_normal(id, normal))
        return tpi_error(TP_MISUSE, "the request's id is no UUID");
    memcpy(id, normal, sizeof normal);
    tp_status status = expire_if_allowed(conn);
    if (status == TP_OK) status = write_new(conn, asked, normal, note, arg, count);
    if (status == TP_OK) return TP_REQUESTED;
    /* What stands in the way may be our own first try, whose commit came late. */
    if (status != TP_CONFLICT) return status;
    tp_status found = tpi_request_earlier(conn, asked, normal, count);
    return found == TP_NONE ? status : found;
}

/* ---- Its end ------------------------------------------------------------------------------------------- */

static const char *word_of(const char *state) {
    return strcmp(state, TPI_REQUEST_DONE) == 0 ? TPI_HISTORY_APPROVED : state;
}

tp_status tpi_request_end(tp_conn *conn, const tp_request *request, const char *from, const char *state,
                          const char *who, const char *why, size_t done) {
    struct tpi_args args = {0};
    int64_t rows = 0;
    tpi_args_text(&args, TPI_P_id, request->id);
    tpi_args_text(&args, TPI_P_state, from);
    tpi_args_text(&args, TPI_P_to_state, state);
    tpi_args_text(&args, TPI_P_who, who);
    tpi_args_text(&args, TPI_P_reason, why);
    tpi_args_number(&args, TPI_P_done, (int64_t)done);
    tp_status status = tpi_store_change_one(&conn->store, TPI_S_request_end, &args);
    if (status == TP_OK) status = tpi_store_change(&conn->store, TPI_S_request_forget, &args, &rows);
    if (status == TP_OK) status = note_event(conn, word_of(state), request->id, request->act, done, who, why);
    return status;
}

static tp_status expire_one(tp_conn *conn, const char *id) {
    struct tpi_texts texts = {0};
    struct tpi_scope scope;
    tp_request request;
    tp_status status = tpi_request_find(conn, id, &texts, &request);
    if (status == TP_OK) {
        status = tpi_scope_begin(conn, &scope);
        if (status == TP_OK)
            status = tpi_request_end(conn, &request, TPI_REQUEST_WAITING, TPI_REQUEST_EXPIRED, NULL, "", 0);
        status = tpi_scope_end(conn, &scope, status);
    }
    tpi_texts_free(&texts);
    return status == TP_NONE ? TP_OK : status; /* another session was quicker */
}

tp_status tpi_request_expire(tp_conn *conn) {
    static const struct tpi_column only[] = {{TPI_READ_ID, 0, TPI_UUID_SIZE}, TPI_COLUMN_END};
    struct tpi_args args = {0};
    void *ids = NULL;
    size_t count = 0;
    tp_status status =
        tpi_store_list(&conn->store, TPI_S_request_overdue, &args, only, NULL, TPI_UUID_SIZE, &ids, &count);
    for (size_t i = 0; i < count && status == TP_OK; i++)
        status = expire_one(conn, (const char *)ids + i * TPI_UUID_SIZE);
    free(ids);
    return status;
}
