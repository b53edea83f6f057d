/* Checks a tp_new_task, gives it an id, binds it and finds it in the pools. See new_task.h. */
#include "ops/new_task.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "core/fsm.h"
#include "ops/deadline.h"
#include "ops/gate.h"
#include "ops/group.h"
#include "ops/sharding.h"
#include "store/record.h"

/* FNV-1a, 64 bits. */
#define FNV_BASIS UINT64_C(0xcbf29ce484222325)
#define FNV_PRIME UINT64_C(0x100000001b3)

/* ---- Of whatever header ------------------------------------------------------------------------------ */

static void *given_at(const struct tpi_new_tasks *tasks, size_t i) {
    return (char *)tasks->given + i * tasks->given->size;
}

tp_status tpi_new_tasks_open(struct tpi_new_tasks *tasks, tp_new_task *given, size_t count) {
    *tasks = (struct tpi_new_tasks){.given = given, .count = count};
    for (size_t i = 0; i < count; i++) {
        const tp_new_task *task = given_at(tasks, i);
        const char *fault =
            task->size == given->size
                ? tpi_sized_read_fault(TPI_SIZED_new_task, task)
                : "tp_new_task: size is not that of the first; start each from TP_NEW_TASK_INIT";
        if (fault && count == 1) return tpi_error(TP_MISUSE, "%s", fault);
        if (fault) return tpi_error(TP_MISUSE, "task %zu of %zu: %s", i + 1, count, fault);
    }
    if (!count || tpi_sized_is_whole(TPI_SIZED_new_task, given)) return TP_OK;
    tasks->copies = calloc(count, sizeof *tasks->copies);
    if (!tasks->copies) return tpi_error(TP_NOMEM, "out of memory");
    for (size_t i = 0; i < count; i++)
        tpi_sized_read(TPI_SIZED_new_task, given_at(tasks, i), &tasks->copies[i]);
    return TP_OK;
}

tp_new_task *tpi_new_task_at(const struct tpi_new_tasks *tasks, size_t i) {
    return tasks->copies ? &tasks->copies[i] : given_at(tasks, i);
}

void tpi_new_tasks_close(struct tpi_new_tasks *tasks) {
    for (size_t i = 0; tasks->copies && i < tasks->count; i++)
        tpi_sized_write(TPI_SIZED_new_task, &tasks->copies[i], given_at(tasks, i));
    free(tasks->copies);
    tasks->copies = NULL;
}

bool tpi_new_task_has_key(const tp_new_task *task) {
    return task->dedup_key && *task->dedup_key;
}

bool tpi_new_task_changes(const tp_new_task *task) {
    return task->on_duplicate != TP_DUPLICATE_KEEP;
}

static bool at_gate(const tp_new_task *task) {
    return (task->order_key && *task->order_key) || (task->gate && *task->gate);
}

bool tpi_new_task_gated(const tp_new_task *task) {
    return at_gate(task) || tpi_group_after(task);
}

bool tpi_new_task_placed(const tp_new_task *task) {
    return tpi_new_task_gated(task) || tpi_group_in(task) || tpi_deadline_given(task);
}

bool tpi_new_task_at_cut_off(const tp_new_task *task) {
    return task->cut_off_calendar && *task->cut_off_calendar;
}

/* ---- Checking ---------------------------------------------------------------------------------------- */

static tp_status check_numbers(const tp_new_task *task) {
    if (task->priority < INT16_MIN || task->priority > INT16_MAX)
        return tpi_error(TP_MISUSE, "priority %d is out of range; it is -32768 to 32767",
                         (int)task->priority);
    if (task->max_failures < 0) return tpi_error(TP_MISUSE, "max_failures is negative");
    if (task->delay_ms < 0 || task->due_at < 0) return tpi_error(TP_MISUSE, "delay_ms or due_at is negative");
    if (task->delay_ms > TP_DURATION_MAX || task->due_at > TP_TIME_MAX)
        return tpi_error(TP_MISUSE, "delay_ms is longer than 100 years, or due_at later than the year 9999");
    if (task->delay_ms && task->due_at) return tpi_error(TP_MISUSE, "give delay_ms or due_at, not both");
    if (task->cut_off_lead_ms < 0 || task->cut_off_lead_ms > TP_DURATION_MAX ||
        (task->cut_off_lead_ms && !tpi_new_task_at_cut_off(task)))
        return tpi_error(
            TP_MISUSE, "cut_off_lead_ms goes with cut_off_calendar, is not negative, and at most 100 years");
    if (task->on_duplicate == TP_DUPLICATE_KEEP) return TP_OK;
    if (task->on_duplicate != TP_DUPLICATE_REPLACE && task->on_duplicate != TP_DUPLICATE_PUSH_BACK)
        return tpi_error(TP_MISUSE, "on_duplicate is none of TP_DUPLICATE_KEEP, TP_DUPLICATE_REPLACE and "
                                    "TP_DUPLICATE_PUSH_BACK");
    if (!tpi_new_task_has_key(task))
        return tpi_error(TP_MISUSE,
                         "on_duplicate is about the task with the same dedup_key, which is missing");
    return TP_OK;
}

/* ---- Which task it stands for -------------------------------------------------------------------------- */

static uint64_t hash_text(uint64_t hash, const char *text) {
    for (text = text ? text : ""; *text; text++)
        hash = (hash ^ (unsigned char)*text) * FNV_PRIME;
    return hash * FNV_PRIME; /* the NUL */
}

static uint64_t hash_number(uint64_t hash, int64_t number) {
    return (hash ^ (uint64_t)number) * FNV_PRIME;
}

/* All that the caller fills in, but the id; never 0. Fields that came later do not change it while they are
 * not used: a program may keep what an older library set. */
static uint64_t content_of(const tp_new_task *task) {
    uint64_t hash = FNV_BASIS;
    hash = hash_text(hash, task->handler);
    hash = hash_text(hash, task->params);
    hash = hash_text(hash, task->biz_key);
    hash = hash_text(hash, task->dedup_key);
    hash = hash_number(hash, task->shard);
    hash = hash_number(hash, task->sharding);
    hash = hash_number(hash, task->shards);
    hash = hash_number(hash, task->priority);
    hash = hash_number(hash, task->max_failures);
    hash = hash_number(hash, task->delay_ms);
    hash = hash_number(hash, tpi_new_task_at_cut_off(task) ? 0 : task->due_at);
    if (tpi_new_task_at_cut_off(task))
        hash = hash_number(hash_text(hash, task->cut_off_calendar), task->cut_off_lead_ms);
    if (tpi_new_task_changes(task)) hash = hash_number(hash, task->on_duplicate);
    if (at_gate(task)) hash = hash_text(hash_text(hash, task->order_key), task->gate);
    if (tpi_group_in(task)) hash = hash_text(hash_number(hash, 'g'), task->group);
    if (tpi_group_after(task)) hash = hash_text(hash_number(hash, 'a'), task->after);
    if (tpi_deadline_given(task))
        hash = hash_number(hash_number(hash_number(hash, 'd'), task->deadline_at), task->deadline_ms);
    return hash ? hash : 1;
}

static tp_status check_id(const tp_new_task *task) {
    char normal[TPI_UUID_SIZE];
    if (!task->id[0]) return TP_OK;
    if (!memchr(task->id, '\0', sizeof task->id))
        return tpi_error(TP_MISUSE, "the id does not end in NUL; start from TP_NEW_TASK_INIT");
    tp_status status = tpi_check_uuid("the id", task->id, normal);
    if (status != TP_OK || !task->content || task->content == content_of(task)) return status;
    return tpi_error(
        TP_MISUSE,
        "this tp_new_task stands for task %s, and was changed since; for another task start from "
        "TP_NEW_TASK_INIT",
        normal);
}

tp_status tpi_new_task_check(const tp_new_task *task) {
    tp_status status = tpi_check_handler(task->handler);
    if (status == TP_OK) status = tpi_check_key("biz_key", task->biz_key);
    if (status == TP_OK) status = tpi_check_key("dedup_key", task->dedup_key);
    if (status == TP_OK) status = tpi_check_params(task->params);
    if (status == TP_OK) status = check_numbers(task);
    if (status == TP_OK) status = tpi_sharding_check(task);
    if (status == TP_OK) status = tpi_gate_check(task);
    if (status == TP_OK) status = tpi_group_check(task);
    if (status == TP_OK) status = tpi_deadline_check(task);
    return status == TP_OK ? check_id(task) : status;
}

bool tpi_new_task_identify(tp_new_task *task) {
    char given[TPI_UUID_SIZE];
    task->existing_id[0] = '\0';
    if (!task->id[0] || !task->content) task->content = content_of(task);
    if (task->id[0]) {
        memcpy(given, task->id, sizeof given);
        return tpi_uuid_normal(given, task->id);
    }
    tpi_uuid_ordered(task->id);
    return false;
}

void tpi_new_task_unidentify(tp_new_task *task) {
    task->id[0] = task->existing_id[0] = '\0';
    task->content = 0;
}

void tpi_new_task_args(const tp_new_task *task, struct tpi_args *args) {
    *args = (struct tpi_args){0};
    tpi_args_text(args, TPI_P_id, task->id);
    tpi_args_text(args, TPI_P_handler, task->handler);
    tpi_args_text(args, TPI_P_biz_key, task->biz_key);
    tpi_args_text(args, TPI_P_dedup_key, task->dedup_key);
    tpi_args_text(args, TPI_P_params, task->params);
    tpi_args_number(args, TPI_P_shard, tpi_sharding_shard(task));
    tpi_args_number(args, TPI_P_priority, task->priority);
    if (task->max_failures) tpi_args_number(args, TPI_P_max_failures, task->max_failures);
    if (task->due_at) tpi_args_number(args, TPI_P_due_at, task->due_at);
    tpi_args_number(args, TPI_P_delay_ms, task->delay_ms);
}

/* ---- What is stored ------------------------------------------------------------------------------------ */

/* A row of find_content. */
struct stored {
    const char *handler, *biz_key, *dedup_key, *params, *state, *gate;
    int64_t shard, priority, max_failures, due_at, created_at, modified_at;
};

static const struct tpi_column columns[] = {
    TPI_COLUMN(TEXT, struct stored, handler),
    TPI_COLUMN(TEXT, struct stored, biz_key),
    TPI_COLUMN(TEXT, struct stored, dedup_key),
    TPI_COLUMN(TEXT, struct stored, params),
    TPI_COLUMN(TEXT, struct stored, state),
    TPI_COLUMN(NUMBER, struct stored, shard),
    TPI_COLUMN(NUMBER, struct stored, priority),
    TPI_COLUMN(NUMBER, struct stored, max_failures),
    TPI_COLUMN(NUMBER, struct stored, due_at),
    TPI_COLUMN(NUMBER, struct stored, created_at),
    TPI_COLUMN(NUMBER, struct stored, modified_at),
    TPI_COLUMN(TEXT, struct stored, gate),
    TPI_COLUMN_END,
};

/* A database's clock may be read more than once, in one statement or in a few. */
enum { CLOCK_READINGS_MS = 1000 };

static bool same_text(const char *stored, const char *text) {
    return strcmp(stored, text ? text : "") == 0;
}

/* By key the shard follows from the task; by round robin or at random each call chooses anew. */
static bool same_shard(const struct stored *stored, const tp_new_task *task) {
    bool chosen_anew = task->sharding == TP_SHARDING_ROUND_ROBIN || task->sharding == TP_SHARDING_RANDOM;
    return chosen_anew || stored->shard == tpi_sharding_shard(task);
}

/* What a library that knows no gates has settled lost the name of its gate; so does what waited for a group.
 */
static bool same_gate(const struct stored *stored, const tp_new_task *task) {
    char gate[TPI_GATE_SIZE];
    bool open = same_text(stored->state, tpi_state_name(TPI_STATE_PENDING)) ||
                same_text(stored->state, tpi_state_name(TPI_STATE_HANDLING));
    tpi_gate_name(task, gate);
    return same_text(stored->gate, gate) || ((!open || tpi_group_after(task)) && !*stored->gate);
}

/* Claims and settles write due_at anew, and modified_at with it. A task that was due at once may have been
 * claimed and released in the millisecond in which it was created. Gates write it, too. */
static bool same_time(const struct stored *stored, const tp_new_task *task) {
    int64_t due = stored->due_at, created = stored->created_at;
    bool at_once = task->due_at ? task->due_at <= created : task->delay_ms == 0;
    bool untouched = same_text(stored->state, tpi_state_name(TPI_STATE_PENDING)) &&
                     stored->modified_at == created && !at_once && !*stored->gate;
    if (!untouched || due == task->due_at || tpi_new_task_at_cut_off(task)) return true;
    int64_t late = due - created - task->delay_ms;
    return !task->due_at && late < CLOCK_READINGS_MS && -late < CLOCK_READINGS_MS;
}

/* The name of what differs; NULL: all is as asked for. */
static const char *difference(const struct stored *stored, const tp_new_task *task) {
    if (!same_text(stored->handler, task->handler)) return "handler";
    if (!same_text(stored->biz_key, task->biz_key)) return "biz_key";
    if (!same_text(stored->dedup_key, task->dedup_key)) return "dedup_key";
    if (!same_text(stored->params, task->params)) return "params";
    if (!same_shard(stored, task)) return "shard";
    if (stored->priority != task->priority) return "priority";
    if (stored->max_failures != task->max_failures) return "max_failures";
    if (!same_gate(stored, task)) return "order_key or gate";
    return same_time(stored, task) ? NULL : "due time";
}

/* Did an operator or another producer give it other content? Who may not read the history cannot know, and
 * hears no. */
static tp_status ask_if_edited(struct tpi_store *store, const tp_new_task *task, bool *edited) {
    struct tpi_args args = {0};
    tpi_args_text(&args, TPI_P_id, task->id);
    tp_status status = tpi_store_exists(store, TPI_S_history_edits, &args, edited);
    return status == TP_DB && tpi_link_failed_as(TPI_CLASS_DENIED) ? TP_OK : status;
}

static tp_status compare_stored(struct tpi_store *store, struct tpi_args *args, const tp_new_task *task) {
    struct stored stored;
    struct tpi_texts texts = {0};
    bool edited = false;
    enum tpi_statement find = store->by_locks ? TPI_S_find_content_locking : TPI_S_find_content;
    tp_status status = tpi_store_read(store, find, args, columns, &texts, &stored);
    const char *what = status == TP_OK ? difference(&stored, task) : NULL;
    if (status == TP_OK && !what) status = tpi_deadline_compare(store, task, &what);
    if (what) status = ask_if_edited(store, task, &edited);
    tpi_texts_free(&texts);
    if (status != TP_OK) return status;
    if (!what || edited) return TP_EXISTS;
    return tpi_error(TP_MISUSE,
                     "task %s is there with another %s; nothing was written. An id stands for one task: "
                     "give another one another id (in C: start each from TP_NEW_TASK_INIT)",
                     task->id, what);
}

/* Is one with its id in any pool, and may its content be read? */
static tp_status find_any(struct tpi_store *store, enum tpi_statement find, struct tpi_args *args,
                          const tp_new_task *task, int64_t *readable) {
    static const struct tpi_column second[] = {{TPI_READ_NOT, 0, 0}, {TPI_READ_NUMBER, 0, 0}, TPI_COLUMN_END};
    char pending[TP_PREFIX_MAX + sizeof "pending"];
    snprintf(pending, sizeof pending, "%spending", store->prefix);
    tpi_args_text(args, TPI_P_id, task->id);
    tpi_args_text(args, TPI_P_name, pending);
    return tpi_store_read(store, find, args, second, NULL, readable);
}

tp_status tpi_new_task_find(struct tpi_store *store, tp_new_task *task) {
    struct tpi_args args = {0};
    int64_t readable = 0;
    enum tpi_statement find = store->by_locks ? TPI_S_find_any_locking : TPI_S_find_any;
    tp_status status = find_any(store, find, &args, task, &readable);
    /* A session of another character set cannot read text as it is, and failing may spoil its transaction. */
    if (status == TP_OK && readable) status = tpi_link_ask_text(&store->link, true);
    if (status != TP_OK) return status;
    store->link.tx_state.seen = true;
    memcpy(task->existing_id, task->id, sizeof task->existing_id);
    return readable ? compare_stored(store, &args, task) : TP_EXISTS;
}

tp_status tpi_new_task_find_earlier(struct tpi_store *store, tp_new_task *task) {
    struct tpi_args args = {0};
    int64_t readable = 0;
    tp_status status = store->by_locks ? find_any(store, TPI_S_find_any, &args, task, &readable) : TP_OK;
    return status == TP_OK ? tpi_new_task_find(store, task) : status;
}
