/* New content for a task that waits or failed, and its retry, in one transaction. The row is changed only as
 * it was read; its event has the id that the caller's struct keeps, so that a second call finds what the
 * first one did, and with which content. Read next: operate.c. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/utf8.h"
#include "ops/audit.h"
#include "ops/batch.h"
#include "ops/cancel.h"
#include "ops/deadline.h"
#include "ops/edit.h"
#include "ops/four_eyes.h"
#include "ops/gate.h"
#include "ops/operate.h"
#include "ops/refused.h"
#include "ops/request.h"
#include "store/record.h"

/* Every bit of tp_edit_request.fields. */
enum { ALL_FIELDS = 2 * TP_EDIT_DEADLINE_AT - 1 };

/* ---- Checking ------------------------------------------------------------------------------------------ */

static tp_status check_numbers(const tp_edit_request *request) {
    if (!request->fields && !request->retry)
        return tpi_error(TP_MISUSE, "tp_edit: fields is 0, so nothing would be changed");
    if (request->fields & ~ALL_FIELDS)
        return tpi_error(TP_MISUSE, "tp_edit: fields has a bit that is none of TP_EDIT_...");
    if (request->priority < INT16_MIN || request->priority > INT16_MAX)
        return tpi_error(TP_MISUSE, "priority %" PRId32 " is not within -32768 to 32767", request->priority);
    if (request->max_failures < 0) return tpi_error(TP_MISUSE, "max_failures is negative");
    if (request->due_at < 0 || request->due_at > TP_TIME_MAX)
        return tpi_error(TP_MISUSE, "due_at is no time of the years 1970 to 9999");
    if (request->deadline_at < 0 || request->deadline_at > TP_TIME_MAX)
        return tpi_error(TP_MISUSE, "deadline_at is no time of the years 1970 to 9999");
    if (request->retry && request->fields & TP_EDIT_DUE_AT)
        return tpi_error(TP_MISUSE, "a task that is retried is due at once; leave due_at out");
    return TP_OK;
}

static tp_status check(struct tpi_edit *edit, const char *id) {
    const tp_edit_request *request = &edit->request;
    if (!*edit->who) return tpi_error(TP_MISUSE, "tp_edit: who is required; it is recorded in the history");
    tp_status status = tpi_check_uuid("the id", id, edit->id);
    if (status == TP_OK) status = check_numbers(request);
    if (status == TP_OK) status = tpi_check_params(request->params);
    if (status == TP_OK) status = tpi_check_key("biz_key", request->biz_key);
    return status == TP_OK ? tpi_check_key("dedup_key", request->dedup_key) : status;
}

/* ---- What became of an earlier try --------------------------------------------------------------------- */

static tp_status refuse_other(const struct tpi_edit *edit) {
    return tpi_error(
        TP_MISUSE,
        "edit %s was done with other content; nothing was written. An edit_id stands for one edit: "
        "start another from TP_EDIT_INIT",
        edit->request.edit_id);
}

/* Reads the event and compares its words, in which texts are lengths. TP_NONE: there is none. newest: nobody
 * edited the task since. */
static tp_status find_event(struct tpi_edit *edit, bool *newest) {
    struct event {
        const char *task_id, *reason;
        int64_t later;
    } event;
    static const struct tpi_column columns[] = {
        TPI_COLUMN(UUID, struct event, task_id),
        TPI_COLUMN(TEXT, struct event, reason),
        TPI_COLUMN(NUMBER, struct event, later),
        TPI_COLUMN_END,
    };
    static const tp_task none;
    struct tpi_edit_words words = {.used = 0};
    struct tpi_texts texts = {0};
    struct tpi_args args = {0};
    tpi_args_text(&args, TPI_P_history_id, edit->request.edit_id);
    tp_status status = tpi_store_read(&edit->conn->store, TPI_S_history_find, &args, columns, &texts, &event);
    if (status == TP_OK) {
        tpi_edit_say(edit, &none, &words);
        *newest = event.later == 0;
        if (strcmp(event.task_id, edit->id) != 0)
            status = tpi_error(TP_MISUSE, "edit_id %s is of another task's edit; start from TP_EDIT_INIT",
                               edit->request.edit_id);
        else if (!tpi_edit_same_words(event.reason, words.text))
            status = refuse_other(edit);
    }
    tpi_texts_free(&texts);
    return status;
}

static bool has_text(const struct tpi_edit *edit, int32_t field, const char *wanted, const char *stored) {
    return !tpi_edit_asks(edit, field) || strcmp(wanted ? wanted : "", stored ? stored : "") == 0;
}

static bool has_texts(const struct tpi_edit *edit, const tp_task *task) {
    const tp_edit_request *request = &edit->request;
    return has_text(edit, TP_EDIT_PARAMS, request->params, task->params) &&
           has_text(edit, TP_EDIT_BIZ_KEY, request->biz_key, task->biz_key) &&
           has_text(edit, TP_EDIT_DEDUP_KEY, request->dedup_key, task->dedup_key);
}

/* TP_NONE: nothing. TP_MISUSE: it had other content. While nobody edits the task again its row has the texts;
 * whether somebody did is asked before it is read, and after. */
static tp_status find_done(struct tpi_edit *edit) {
    tp_batch *batch = NULL;
    bool newest = false;
    tp_status status = find_event(edit, &newest);
    if (status != TP_OK || !newest) return status;
    status = tp_show(edit->conn, edit->id, &batch);
    bool differs = status == TP_OK && !has_texts(edit, tp_batch_task(batch, 0));
    tp_batch_free(batch);
    if (!differs) return status == TP_NONE ? TP_OK : status;
    status = find_event(edit, &newest);
    return status == TP_OK && newest ? refuse_other(edit) : status;
}

/* ---- The new content ----------------------------------------------------------------------------------- */

static const char *text_of(const struct tpi_edit *edit, int32_t field, const char *wanted, const char *old) {
    return tpi_edit_asks(edit, field) ? wanted : old;
}

static const char *dedup_key_of(const struct tpi_edit *edit) {
    return text_of(edit, TP_EDIT_DEDUP_KEY, edit->request.dedup_key, edit->old->dedup_key);
}

/* Is the key that the open task is to have another open task's? */
static tp_status check_dedup_key(struct tpi_edit *edit) {
    static const struct tpi_column columns[] = {
        {TPI_READ_NOT, 0, 0}, {TPI_READ_ID, 0, TPI_UUID_SIZE}, TPI_COLUMN_END};
    const char *key = dedup_key_of(edit);
    char id[TPI_UUID_SIZE] = "";
    struct tpi_args args = {0};
    if (!key || !*key || (edit->pool == TPI_POOL_FAILED && !edit->request.retry)) return TP_OK;
    tpi_args_list(&args, &key, 1);
    tp_status status = tpi_store_read(&edit->conn->store, TPI_S_find_keys, &args, columns, NULL, id);
    if (status == TP_NONE) return TP_OK;
    return status == TP_OK && strcmp(id, edit->id) != 0 ? TP_EXISTS : status;
}

static tp_status write_content(struct tpi_edit *edit) {
    const tp_edit_request *request = &edit->request;
    const tp_task *old = edit->old;
    struct tpi_args args = {0};
    int32_t max_failures =
        tpi_edit_asks(edit, TP_EDIT_MAX_FAILURES) ? request->max_failures : old->max_failures;
    tpi_args_text(&args, TPI_P_id, edit->id);
    tpi_args_text(&args, TPI_P_params, text_of(edit, TP_EDIT_PARAMS, request->params, old->params));
    tpi_args_text(&args, TPI_P_biz_key, text_of(edit, TP_EDIT_BIZ_KEY, request->biz_key, old->biz_key));
    tpi_args_text(&args, TPI_P_dedup_key, dedup_key_of(edit));
    tpi_args_number(&args, TPI_P_priority,
                    tpi_edit_asks(edit, TP_EDIT_PRIORITY) ? request->priority : old->priority);
    tpi_args_number(&args, TPI_P_shard, tpi_edit_asks(edit, TP_EDIT_SHARD) ? request->shard : old->shard);
    if (max_failures) tpi_args_number(&args, TPI_P_max_failures, max_failures);
    tpi_args_number(&args, TPI_P_due_at, tpi_edit_asks(edit, TP_EDIT_DUE_AT) ? request->due_at : old->due_at);
    tpi_args_text(&args, TPI_P_state, old->state);
    tpi_args_number(&args, TPI_P_failures, old->failures);
    tpi_args_number(&args, TPI_P_modified_at, old->modified_at);
    tpi_args_number(&args, TPI_P_at, edit->at);
    bool failed = edit->pool == TPI_POOL_FAILED;
    tp_status status =
        tpi_store_change_one(&edit->conn->store, failed ? TPI_S_edit_failed : TPI_S_edit_pending, &args);
    return status == TP_NONE
               ? tpi_error(TP_CONFLICT, "the task was changed meanwhile; look at it and ask again")
               : status;
}

static tp_status change_one(struct tpi_edit *edit, enum tpi_statement statement, struct tpi_args *args) {
    tp_status status = tpi_store_change_one(&edit->conn->store, statement, args);
    return status == TP_NONE ? tpi_error(TP_CONFLICT, "another session got in the way of the retry") : status;
}

static tp_status write_retry(struct tpi_edit *edit) {
    static const struct tpi_facts facts = {.failures = 1, .max_failures = 2};
    struct tpi_change change = tpi_fsm_decide(edit->pool, TPI_STATE_FAILED, TPI_EVENT_RETRY, &facts);
    const char *id = edit->id;
    struct tpi_args args = {0};
    tpi_args_list(&args, &id, 1);
    tpi_args_text(&args, TPI_P_state, tpi_state_name(TPI_STATE_FAILED));
    tpi_args_text(&args, TPI_P_to_state, tpi_state_name(change.state));
    tpi_args_number(&args, TPI_P_failures, change.failures);
    tpi_args_number(&args, TPI_P_at, edit->at);
    tp_status status = tpi_cancel_retract(edit->conn, &id, 1);
    if (status == TP_OK && change.pool == edit->pool) return change_one(edit, TPI_S_operate_reset, &args);
    if (status == TP_OK) status = change_one(edit, TPI_S_operate_retry_failed, &args);
    if (status == TP_OK) status = change_one(edit, TPI_S_operate_delete_failed, &args);
    struct tpi_gated gated = {.id = edit->id, .gate = edit->old->gate};
    return status == TP_OK && *edit->old->gate ? tpi_gates_return(edit->conn, &gated, 1) : status;
}

static tp_status write_event(struct tpi_edit *edit, const char *word, const char *reason,
                             const char *event_id) {
    struct tpi_history_event event = {.task_id = edit->id,
                                      .handler = edit->old->handler,
                                      .event = word,
                                      .who = edit->who,
                                      .reason = reason};
    if (event_id) memcpy(event.id, event_id, sizeof event.id);
    return tpi_history_note(edit->conn, &event, edit->at);
}

static tp_status write_audit(struct tpi_edit *edit, const char *what) {
    const char *id = edit->id;
    struct tpi_act act = {.action = TPI_HISTORY_EDITED,
                          .who = edit->who,
                          .why = edit->why,
                          .subject = id,
                          .detail = what,
                          .changed = 1,
                          .ids = &id,
                          .id_count = 1,
                          .at = edit->at};
    memcpy(act.id, edit->request.edit_id, sizeof act.id);
    return tpi_audit_add(edit->conn, &act);
}

/* Its row is this session's by now, so that nobody else asks for its end unseen. */
static tp_status write_deadline(struct tpi_edit *edit) {
    struct tpi_args args = {0};
    bool asked = false;
    tpi_args_text(&args, TPI_P_id, edit->id);
    tp_status status = tpi_store_exists(&edit->conn->store, TPI_S_cancel_asked, &args, &asked);
    if (status == TP_OK && asked)
        status = tpi_error(TP_MISUSE, "the end of the task was asked for, which no deadline takes back");
    if (status != TP_OK) return status;
    return tpi_deadline_replace(edit->conn, edit->id, edit->request.deadline_at, true);
}

/* ---- The call ------------------------------------------------------------------------------------------ */

static tp_status write_all(struct tpi_edit *edit) {
    struct tpi_edit_words words = {.used = 0}, what;
    struct tpi_scope scope;
    tpi_edit_say(edit, edit->old, &words);
    what = words;
    tpi_edit_say_why(edit, &words);
    tp_status status = tpi_scope_begin(edit->conn, &scope);
    if (status != TP_OK) return status;
    status = write_content(edit);
    if (status == TP_OK) status = write_event(edit, TPI_HISTORY_EDITED, words.text, edit->request.edit_id);
    if (status == TP_OK && edit->request.retry) status = write_retry(edit);
    if (status == TP_OK && edit->request.retry)
        status = write_event(edit, TPI_HISTORY_RETRIED, edit->why, NULL);
    if (status == TP_OK && tpi_edit_asks(edit, TP_EDIT_DEADLINE_AT)) status = write_deadline(edit);
    if (status == TP_OK) status = write_audit(edit, what.text);
    return tpi_scope_end(edit->conn, &scope, status);
}

static bool allows(const struct tpi_edit *edit, enum tpi_state state, enum tpi_event event) {
    static const struct tpi_facts facts = {.failures = 1, .max_failures = 2};
    return tpi_fsm_decide(edit->pool, state, event, &facts).verdict == TP_OK;
}

static bool waits_at_gate(const tp_task *task) {
    return *task->gate && task->due_at == TPI_GATE_WAITS && strcmp(task->pool, "pending") == 0;
}

/* A retry is due at once. */
static tp_status check_deadline(const struct tpi_edit *edit) {
    const tp_edit_request *request = &edit->request;
    const tp_task *old = edit->old;
    int64_t due_at = tpi_edit_asks(edit, TP_EDIT_DUE_AT) ? request->due_at
                     : waits_at_gate(old)                ? old->wanted_at
                                                         : old->due_at;
    if (!tpi_edit_asks(edit, TP_EDIT_DEADLINE_AT) || request->retry) return TP_OK;
    if (edit->pool == TPI_POOL_FAILED)
        return tpi_error(TP_MISUSE,
                         "a task of the failed pool has no deadline; retry it, or leave deadline_at out");
    if (request->deadline_at && request->deadline_at <= due_at)
        return tpi_error(TP_MISUSE, "the task is not due before this deadline: it would never be begun");
    return TP_OK;
}

static tp_status check_state(const struct tpi_edit *edit) {
    enum tpi_state state = TPI_STATE_COUNT;
    if (!tpi_state_parse(edit->old->state, &state) || !allows(edit, state, TPI_EVENT_EDIT))
        return tpi_error(TP_MISUSE,
                         "the task is %s in the %s pool; only one that waits or failed can be edited",
                         edit->old->state, edit->old->pool);
    if (edit->request.retry && !allows(edit, state, TPI_EVENT_RETRY))
        return tpi_error(TP_MISUSE,
                         "the task has not failed and needs no retry; give due_at to move its time");
    if (edit->pool == TPI_POOL_FAILED && tpi_edit_asks(edit, TP_EDIT_DUE_AT))
        return tpi_error(TP_MISUSE, "a task of the failed pool is never due; retry it, or leave due_at out");
    if (*edit->old->gate && tpi_edit_asks(edit, TP_EDIT_DUE_AT) && edit->request.due_at >= TPI_GATE_WAITS)
        return tpi_error(TP_MISUSE,
                         "the task is behind gate %s: its due_at is before the last moment of the year 9999",
                         edit->old->gate);
    if (waits_at_gate(edit->old) && tpi_edit_asks(edit, TP_EDIT_DUE_AT))
        return tpi_error(TP_MISUSE, "the task waits at gate %s, which says when it is due; leave due_at out",
                         edit->old->gate);
    return check_deadline(edit);
}

static tp_status edit_task(struct tpi_edit *edit, const tp_batch *batch) {
    edit->old = tp_batch_task(batch, 0);
    edit->pool = batch->slots[0].pool;
    if (edit->request.modified_at && edit->request.modified_at != edit->old->modified_at)
        return tpi_error(TP_CONFLICT, "the task was changed since it was looked at; look at it again");
    tp_status status = check_state(edit);
    if (status == TP_OK) status = check_dedup_key(edit);
    if (status == TP_OK) {
        status = tpi_edit_ask_second(edit);
        if (status != TP_NONE) return status;
        status = TP_OK;
    }
    if (status == TP_OK) status = tpi_ask_now(edit->conn, &edit->at);
    if (status != TP_OK) return status;
    if (edit->at <= edit->old->modified_at) edit->at = edit->old->modified_at + 1;
    return write_all(edit);
}

/* TP_NONE: it is not done yet. The id is made, and kept by the caller, before anything is written. */
static tp_status begin(struct tpi_edit *edit, tp_edit_request *given) {
    char normal[TPI_UUID_SIZE];
    bool asked = *edit->request.edit_id;
    if (!asked) tpi_uuid_ordered(normal);
    tp_status status = asked ? tpi_check_uuid("edit_id", edit->request.edit_id, normal) : TP_OK;
    if (status != TP_OK) return status;
    memcpy(edit->request.edit_id, normal, sizeof normal);
    tpi_sized_write(TPI_SIZED_edit_request, &edit->request, given);
    status = asked ? find_done(edit) : TP_NONE;
    return asked && status == TP_NONE ? tpi_edit_find_request(edit) : status;
}

/* What stands in the way may be our own first try, whose commit came late. */
static tp_status answer(struct tpi_edit *edit, tp_status status) {
    if (status != TP_CONFLICT && status != TP_EXISTS && status != TP_MISUSE && status != TP_NONE)
        return status;
    tp_status found = find_done(edit);
    return found == TP_NONE ? status : found;
}

tp_status tp_edit(tp_conn *conn, const char *id, tp_edit_request *given, const char *who, const char *why) {
    char reason[TP_REASON_MAX + 1], person[TPI_WHO_MAX + 1];
    struct tpi_edit edit = {.conn = conn, .who = person, .why = reason};
    tp_batch *batch = NULL;
    tp_status status = tpi_conn_ready_alone(conn, "tp_edit");
    if (status != TP_OK) return status;
    if (!given) return tpi_error(TP_MISUSE, "tp_edit: edit is NULL");
    status = tpi_read_sized(TPI_SIZED_edit_request, given, &edit.request);
    tpi_utf8_copy(who ? who : "", person, sizeof person);
    tpi_utf8_copy(why ? why : "", reason, sizeof reason);
    if (status == TP_OK) status = check(&edit, id);
    if (status != TP_OK) return status;
    status = begin(&edit, given);
    if (status != TP_NONE) return status;
    status = tp_show(conn, edit.id, &batch);
    if (status == TP_OK) status = edit_task(&edit, batch);
    tp_batch_free(batch);
    return status == TP_OK ? TP_OK : answer(&edit, status);
}

tp_status tpi_edit_given(tp_conn *conn, const char *task_id, const tp_request *request, const char *who,
                         const char *why) {
    struct tpi_edit edit = {.conn = conn, .who = who, .why = why, .approved = true};
    tp_batch *batch = NULL;
    if (request->fields & ~ALL_FIELDS)
        return tpi_error(TP_UNSUPPORTED,
                         "the request changes what this version of the library does not know; approve "
                         "it by the version that wrote it");
    tpi_edit_of_request(request, &edit.request);
    tpi_utf8_copy(task_id, edit.id, sizeof edit.id);
    tp_status status = tp_show(conn, edit.id, &batch);
    if (status == TP_OK) status = edit_task(&edit, batch);
    tp_batch_free(batch);
    return status;
}
