/* A producer changes the open task that has its dedup_key: gives it the new content, or a later time. The row
 * is changed only as it was read, and recorded in the history under the id of the new task, by which who asks
 * again finds it. It is read before the history is: what an earlier try commits in between changes the row.
 * See duplicate.h. */
#include "ops/duplicate.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "core/fsm.h"
#include "ops/deadline.h"
#include "ops/four_eyes.h"
#include "ops/gate.h"
#include "ops/history.h"
#include "ops/hold.h"
#include "ops/new_task.h"
#include "ops/steps.h"
#include "store/cursor.h"

/* A row of duplicate_find. */
struct open_task {
    char id[TPI_UUID_SIZE], handler[TP_HANDLER_MAX + 1];
    enum tpi_state state;
    int64_t failures, due_at, modified_at;
    char gate[TPI_GATE_SIZE];
    int64_t asked;     /* it has a row of tp_cancel, be it of an earlier task with its id */
    int64_t cancelled; /* by which a person asked for its end */
};

/* ---- What an earlier try did --------------------------------------------------------------------------- */

static void say_time(const tp_new_task *task, char *text, size_t size) {
    if (tpi_new_task_at_cut_off(task))
        snprintf(text, size, "at a cut-off");
    else if (task->due_at)
        snprintf(text, size, "at %" PRId64, task->due_at);
    else
        snprintf(text, size, "in %" PRId64 " ms", task->delay_ms);
}

/* What was asked for, in numbers and lengths: params and keys may be private. A shard that each call chooses
 * anew is left out. */
static void say(const tp_new_task *task, char text[TP_REASON_MAX + 1]) {
    char time[40], shard[24] = "", deadline[80] = "";
    say_time(task, time, sizeof time);
    if (task->on_duplicate == TP_DUPLICATE_PUSH_BACK) {
        snprintf(text, TP_REASON_MAX + 1, "due %s", time);
        return;
    }
    if (tpi_deadline_given(task))
        snprintf(deadline, sizeof deadline, ", deadline at %" PRId64 " or in %" PRId64 " ms",
                 task->deadline_at, task->deadline_ms);
    if (task->sharding == TP_SHARDING_NONE) snprintf(shard, sizeof shard, ", shard %" PRId32, task->shard);
    snprintf(text, TP_REASON_MAX + 1,
             "params of %zu bytes, biz_key of %zu%s, priority %" PRId32 ", max_failures %" PRId32
             ", due %s%s",
             strlen(task->params ? task->params : ""), strlen(task->biz_key ? task->biz_key : ""), shard,
             task->priority, task->max_failures, time, deadline);
}

tp_status tpi_duplicate_changed(tp_conn *conn, tp_new_task *task, bool sure) {
    struct event {
        const char *task_id, *reason;
    } event;
    static const struct tpi_column columns[] = {TPI_COLUMN(UUID, struct event, task_id),
                                                TPI_COLUMN(TEXT, struct event, reason), TPI_COLUMN_END};
    struct tpi_store *store = &conn->store;
    struct tpi_texts texts = {0};
    struct tpi_args args = {0};
    char words[TP_REASON_MAX + 1];
    say(task, words);
    tpi_args_text(&args, TPI_P_history_id, task->id);
    tp_status status =
        tpi_store_read(store, sure && store->by_locks ? TPI_S_duplicate_done_locking : TPI_S_duplicate_done,
                       &args, columns, &texts, &event);
    if (status == TP_OK) {
        size_t length = strlen(words);
        bool same = strncmp(event.reason, words, length) == 0 && strncmp(event.reason + length, ": ", 2) == 0;
        store->link.tx_state.seen = true;
        if (same) memcpy(task->existing_id, event.task_id, strnlen(event.task_id, TP_ID_SIZE - 1) + 1);
        if (!same)
            status =
                tpi_error(TP_MISUSE,
                          "enqueue %s was done with other content; nothing was written. An id stands for "
                          "one task: give another one another id",
                          task->id);
    }
    tpi_texts_free(&texts);
    return status;
}

/* ---- The task that is there ---------------------------------------------------------------------------- */

/* Of this handler; where there is none, of another. */
static tp_status find(struct tpi_store *store, const tp_new_task *task, struct open_task *found) {
    static const struct tpi_column columns[] = {
        {TPI_READ_ID, offsetof(struct open_task, id), TPI_UUID_SIZE},
        {TPI_READ_CHARS, offsetof(struct open_task, handler), TP_HANDLER_MAX + 1},
        TPI_COLUMN(STATE, struct open_task, state),
        TPI_COLUMN(NUMBER, struct open_task, failures),
        TPI_COLUMN(NUMBER, struct open_task, due_at),
        TPI_COLUMN(NUMBER, struct open_task, modified_at),
        TPI_COLUMN(CHARS, struct open_task, gate),
        TPI_COLUMN(NUMBER, struct open_task, asked),
        TPI_COLUMN(NUMBER, struct open_task, cancelled),
        TPI_COLUMN_END,
    };
    struct tpi_args args = {0};
    struct tpi_cursor cursor;
    struct open_task one;
    bool ours = false;
    tpi_args_text(&args, TPI_P_dedup_key, task->dedup_key);
    tpi_cursor_open(&cursor, store, store->by_locks ? TPI_S_duplicate_find_locking : TPI_S_duplicate_find,
                    &args, columns, SIZE_MAX);
    while (tpi_cursor_next(&cursor, &one)) {
        if (!ours) *found = one;
        ours = ours || strcmp(one.handler, task->handler) == 0;
    }
    tp_status status = tpi_cursor_close(&cursor);
    if (status != TP_OK || ours) return status;
    return tpi_error(TP_MISUSE,
                     "the open task %s with this dedup_key is of another handler, %s; nothing was written",
                     found->id, found->handler);
}

/* Claimed, or locked by plan hold in this very transaction. */
static bool in_hand(const tp_conn *conn, const struct open_task *there) {
    static const struct tpi_facts facts = {.max_failures = 1};
    return tpi_hold_has(conn, there->id) ||
           tpi_fsm_decide(TPI_POOL_PENDING, there->state, TPI_EVENT_EDIT, &facts).verdict != TP_OK;
}

/* TP_EXISTS: it is to be skipped, and the new content would be with it; or steps of the old content are done,
 * and would not be done for the new one. */
static tp_status may_replace(tp_conn *conn, const struct open_task *there) {
    tp_four_eyes eyes = TP_FOUR_EYES_INIT;
    bool begun = false;
    if (there->cancelled) return TP_EXISTS;
    tp_status status = tpi_four_eyes_read(conn, &eyes);
    if (status == TP_OK && !eyes.on) status = tpi_steps_any(conn, there->id, &begun);
    if (status != TP_OK || !eyes.on) return status == TP_OK && begun ? TP_EXISTS : status;
    return tpi_error(TP_MISUSE,
                     "four eyes is on for this pool: no producer alone replaces the params of a task "
                     "that waits; nothing was written");
}

/* One that is due behind its deadline is never begun: that would be a skip by one person alone. */
static tp_status may_push_back(tp_conn *conn, const struct open_task *there, int64_t due_at) {
    tp_four_eyes eyes = TP_FOUR_EYES_INIT;
    int64_t deadline_at = 0;
    if (!there->asked || due_at <= there->due_at) return TP_OK;
    tp_status status = tpi_four_eyes_read(conn, &eyes);
    if (status == TP_OK && eyes.on) status = tpi_deadline_read(&conn->store, there->id, &deadline_at);
    if (status != TP_OK || !deadline_at || due_at < deadline_at) return status;
    return tpi_error(TP_MISUSE,
                     "four eyes is on for this pool: no producer alone pushes a task that waits to its "
                     "deadline or behind it; nothing was written");
}

/* ---- Changing it --------------------------------------------------------------------------------------- */

static tp_status record(tp_conn *conn, const tp_new_task *task, const struct open_task *there, int64_t due_at,
                        int64_t at) {
    char reason[TP_REASON_MAX + 1];
    bool replaces = task->on_duplicate == TP_DUPLICATE_REPLACE;
    struct tpi_history_event event = {.task_id = there->id,
                                      .handler = task->handler,
                                      .event = replaces ? TPI_HISTORY_REPLACED : TPI_HISTORY_DEFERRED,
                                      .who = conn->actor.who,
                                      .reason = reason};
    say(task, reason);
    size_t length = strlen(reason);
    snprintf(reason + length, sizeof reason - length, ": due_at %" PRId64 " -> %" PRId64, there->due_at,
             due_at);
    memcpy(event.id, task->id, sizeof event.id);
    return tpi_history_note(conn, &event, at);
}

static tp_status write(tp_conn *conn, const tp_new_task *task, const struct tpi_args *of_task,
                       const struct open_task *there) {
    struct tpi_args args = *of_task;
    bool replaces = task->on_duplicate == TP_DUPLICATE_REPLACE;
    int64_t at = 0;
    tp_status status = tpi_ask_now(conn, &at);
    if (status != TP_OK) return status;
    int64_t due_at = task->due_at ? task->due_at : at + task->delay_ms;
    int64_t deadline_at = task->deadline_ms ? due_at + task->deadline_ms : task->deadline_at;
    bool waits = there->gate[0] && there->due_at == TPI_GATE_WAITS; /* the gate says when it is due */
    if (there->gate[0] && due_at >= TPI_GATE_WAITS) due_at = TPI_GATE_WAITS - 1;
    if (waits || (!replaces && due_at < there->due_at)) due_at = there->due_at;
    if (!replaces) status = may_push_back(conn, there, due_at);
    if (status != TP_OK) return status;
    if (at <= there->modified_at) at = there->modified_at + 1;
    tpi_args_text(&args, TPI_P_id, there->id);
    tpi_args_text(&args, TPI_P_state, tpi_state_name(there->state));
    tpi_args_number(&args, TPI_P_failures, there->failures);
    tpi_args_number(&args, TPI_P_modified_at, there->modified_at);
    tpi_args_number(&args, TPI_P_due_at, due_at);
    tpi_args_number(&args, TPI_P_at, at);
    status = tpi_store_change_one(&conn->store, replaces ? TPI_S_edit_pending : TPI_S_duplicate_defer, &args);
    if (status == TP_OK && replaces)
        status = tpi_deadline_replace(conn, there->id, deadline_at, there->asked);
    return status == TP_OK ? record(conn, task, there, due_at, at) : status;
}

tp_status tpi_duplicate_change(tp_conn *conn, tp_new_task *task, const struct tpi_args *args, bool again) {
    struct open_task there;
    tp_status status = find(&conn->store, task, &there);
    if (status == TP_OK && again) {
        status = tpi_duplicate_changed(conn, task, true);
        if (status != TP_NONE) return status;
        status = TP_OK;
    }
    if (status != TP_OK) return status;
    memcpy(task->existing_id, there.id, sizeof task->existing_id);
    if (in_hand(conn, &there)) return TP_EXISTS;
    if (task->on_duplicate == TP_DUPLICATE_REPLACE) status = may_replace(conn, &there);
    return status == TP_OK ? write(conn, task, args, &there) : status;
}
