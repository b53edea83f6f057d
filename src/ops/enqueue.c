/* Putting one task into the pending pool. Ids are made before the database is asked. A task that comes with
 * its id is asked again: it is searched for in every pool. The insert comes first and the search of the other
 * pools second, so that a task that moves in between cannot slip through. That something is there is seen,
 * never inferred from an insert that wrote nothing. Read next: enqueue_many.c. */
#include "ops/enqueue.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "ops/cut_off.h"
#include "ops/deadline.h"
#include "ops/duplicate.h"
#include "ops/gate.h"
#include "ops/group.h"
#include "ops/new_task.h"
#include "ops/refused.h"
#include "store/cursor.h"

const char tpi_enqueue_placed_text[] = "putting a task behind a gate, into a group or after one, or giving "
                                       "it a deadline, takes several statements";

/* A key that is there may be gone when it is searched for next, and the other way round. */
enum { TRIES = 5 };

/* ---- Keys ---------------------------------------------------------------------------------------------- */

static int by_key(const void *left, const void *right) {
    const tp_new_task *a = *(tp_new_task *const *)left, *b = *(tp_new_task *const *)right;
    int order = strcmp(a->dedup_key, b->dedup_key);
    return order ? order : (a > b) - (a < b);
}

void tpi_enqueue_sort_by_key(tp_new_task **tasks, size_t count) {
    qsort(tasks, count, sizeof(tp_new_task *), by_key);
}

static size_t first_with(tp_new_task **tasks, size_t count, const char *key) {
    size_t low = 0;
    while (count) {
        size_t half = count / 2;
        if (strcmp(tasks[low + half]->dedup_key, key) < 0) {
            low += half + 1;
            count -= half + 1;
        } else {
            count = half;
        }
    }
    return low;
}

const tp_new_task *tpi_enqueue_first_with_key(tp_new_task **tasks, size_t count, const tp_new_task *task) {
    const char *key = task->dedup_key;
    if (!tasks || !key || !*key) return NULL;
    size_t i = first_with(tasks, count, key);
    return i < count && strcmp(tasks[i]->dedup_key, key) == 0 ? tasks[i] : NULL;
}

struct found {
    const char *key, *id;
};

/* At most TPI_LIST_MAX tasks, sorted by key. Of several open tasks with its key, itself counts. */
static tp_status find_some(struct tpi_store *store, enum tpi_statement find, tp_new_task **tasks,
                           size_t count) {
    static const struct tpi_column columns[] = {
        TPI_COLUMN(TEXT, struct found, key),
        TPI_COLUMN(UUID, struct found, id),
        TPI_COLUMN_END,
    };
    const char *keys[TPI_LIST_MAX];
    struct tpi_args args = {0};
    struct tpi_cursor cursor;
    struct found found;
    for (size_t i = 0; i < count; i++)
        keys[i] = tasks[i]->dedup_key;
    tpi_args_list(&args, keys, count);
    tpi_cursor_open(&cursor, store, find, &args, columns, SIZE_MAX);
    while (tpi_cursor_next(&cursor, &found))
        for (size_t i = first_with(tasks, count, found.key); i < count; i++) {
            if (strcmp(tasks[i]->dedup_key, found.key) != 0) break;
            if (strcmp(tasks[i]->existing_id, tasks[i]->id) != 0)
                memcpy(tasks[i]->existing_id, found.id, strlen(found.id) + 1);
        }
    tp_status status = tpi_cursor_close(&cursor);
    return status == TP_NONE ? TP_OK : status;
}

static tp_status find_by(struct tpi_store *store, enum tpi_statement find, tp_new_task **tasks,
                         size_t count) {
    tp_status status = TP_OK;
    tpi_enqueue_sort_by_key(tasks, count);
    for (size_t i = 0; i < count; i++)
        tasks[i]->existing_id[0] = '\0';
    for (size_t at = 0; at < count && status == TP_OK; at += TPI_LIST_MAX)
        status = find_some(store, find, tasks + at, count - at < TPI_LIST_MAX ? count - at : TPI_LIST_MAX);
    return status;
}

/* A locking read that finds nothing would lock the gap in which others insert: only what a plain one shows is
 * confirmed. */
tp_status tpi_enqueue_find_keys(struct tpi_store *store, tp_new_task **tasks, size_t count) {
    size_t shown = 0;
    tp_status status = find_by(store, TPI_S_find_keys, tasks, count);
    if (status != TP_OK || !store->by_locks) return status;
    for (size_t i = 0; i < count; i++) {
        tp_new_task *task = tasks[i];
        if (!task->existing_id[0]) continue;
        tasks[i] = tasks[shown];
        tasks[shown++] = task;
    }
    status = find_by(store, TPI_S_find_keys_locking, tasks, shown);
    tpi_enqueue_sort_by_key(tasks, count);
    return status;
}

/* TP_NONE: it has no key, or no open task has it. */
static tp_status find_key(struct tpi_store *store, tp_new_task *task) {
    if (!tpi_new_task_has_key(task)) return TP_NONE;
    enum tpi_statement find = store->by_locks ? TPI_S_find_keys_locking : TPI_S_find_keys;
    tp_status status = find_by(store, find, &task, 1);
    if (status != TP_OK) return status;
    return task->existing_id[0] ? TP_EXISTS : TP_NONE;
}

/* TP_NONE: nothing of the task is there. Of itself, found by its key, the content counts. */
static tp_status find_task(struct tpi_store *store, void *arg) {
    tp_new_task *task = arg;
    tp_status status = find_key(store, task);
    bool itself = status == TP_EXISTS && strcmp(task->existing_id, task->id) == 0;
    return status == TP_NONE || itself ? tpi_new_task_find(store, task) : status;
}

/* ---- In a transaction ---------------------------------------------------------------------------------- */

/* By locking reads, what is there is met by the insert and searched for afterwards: a search that finds
 * nothing would lock the gap in which others insert. */
static tp_status insert(struct tpi_store *store, tp_new_task *task, struct tpi_args *args, bool again) {
    bool first = (store->caps & TPI_CAP_QUIET_EXISTS) || store->by_locks;
    for (int i = 0; i < TRIES; i++) {
        tp_status status = first ? TP_NONE : find_key(store, task);
        if (status == TP_NONE)
            status = tpi_store_change_one(
                store, tpi_new_task_gated(task) ? TPI_S_enqueue_gated : TPI_S_enqueue, args);
        if (store->by_locks) status = tpi_refused_or_there(store, status, find_task, task);
        if (status == TP_NONE && again) status = tpi_new_task_find(store, task);
        if (status == TP_NONE) status = find_key(store, task);
        if (status != TP_NONE) return status;
    }
    return tpi_refused_silently(store, "stored no task, and neither its id nor its dedup_key is there",
                                "pending");
}

/* Inserts it, or changes another that has its key. */
static tp_status put(tp_conn *conn, tp_new_task *task, struct tpi_args *args, bool again) {
    for (int i = 0; i < TRIES; i++) {
        tp_status status = insert(&conn->store, task, args, again);
        bool other = status == TP_EXISTS && strcmp(task->existing_id, task->id) != 0;
        if (!other || !tpi_new_task_changes(task)) return status;
        status = tpi_duplicate_change(conn, task, args, again);
        if (status != TP_NONE) return status;
        task->existing_id[0] = '\0';
    }
    return tpi_error(TP_CONFLICT, "other sessions changed the task with this dedup_key each time; ask again");
}

/* TP_NONE: nothing of an earlier try is there. */
static tp_status find_earlier(tp_conn *conn, tp_new_task *task) {
    tp_status status = tpi_new_task_find_earlier(&conn->store, task);
    return status == TP_NONE && tpi_new_task_changes(task) ? tpi_duplicate_changed(conn, task, false)
                                                           : status;
}

/* Asked again, it is searched for twice. The first time spares what is there an insert and its undoing, and
 * sees a task of another handler in a partitioned pool; the second counts: the row just inserted is ours
 * alone, so a task that moves cannot overtake it, nor can an earlier try that changed the task whose key it
 * has now. */
tp_status tpi_enqueue_insert(tp_conn *conn, tp_new_task *task, bool again) {
    struct tpi_store *store = &conn->store;
    struct tpi_args args;
    char gate[TPI_GATE_SIZE];
    bool moved = false;
    tpi_new_task_args(task, &args);
    if (tpi_new_task_gated(task)) {
        tpi_gate_name(task, gate);
        tpi_args_text(&args, TPI_P_gate, gate);
    }
    tp_status status = again ? find_earlier(conn, task) : TP_NONE;
    if (status != TP_NONE) return status;
    status = put(conn, task, &args, again);
    if (status != TP_OK || !again || task->existing_id[0]) return status;
    if (tpi_new_task_changes(task)) status = tpi_duplicate_changed(conn, task, true);
    if (status == TP_OK && task->existing_id[0]) {
        tp_status undone = tpi_store_change_one(store, TPI_S_enqueue_undo, &args);
        return undone == TP_NONE ? tpi_error(TP_CONFLICT, "the task is gone again; ask again") : undone;
    }
    if (status != TP_OK && status != TP_NONE) return status;
    bool locks = store->caps & TPI_CAP_LOCKING_READ; /* not only when lent: tp_conn_dbc may have been used */
    status = tpi_store_exists(store, locks ? TPI_S_find_moved_locking : TPI_S_find_moved, &args, &moved);
    if (status != TP_OK || !moved) return status;
    status = tpi_store_change_one(store, TPI_S_enqueue_undo, &args);
    if (status == TP_OK) status = tpi_new_task_find(store, task);
    return status == TP_NONE ? tpi_error(TP_CONFLICT, "the task was there and is gone again; ask again")
                             : status;
}

/* ---- The call ------------------------------------------------------------------------------------------ */

/* Of those that are behind gates. */
static tp_status enter_gates(tp_conn *conn, tp_new_task *const *tasks, size_t count) {
    struct tpi_gated *gated = calloc(count, sizeof *gated);
    char(*names)[TPI_GATE_SIZE] = calloc(count, sizeof *names);
    tp_status status = gated && names ? TP_OK : tpi_link_no_memory(&conn->store.link);
    size_t behind = 0;
    for (size_t i = 0; i < count && gated && names; i++) {
        if (!tpi_new_task_gated(tasks[i]) || tpi_group_after(tasks[i])) continue;
        tpi_gate_name(tasks[i], names[behind]);
        gated[behind] = (struct tpi_gated){.id = tasks[i]->id, .gate = names[behind]};
        behind++;
    }
    if (status == TP_OK) status = tpi_gates_enter(conn, gated, behind);
    free(names);
    free(gated);
    return status;
}

tp_status tpi_enqueue_enter(tp_conn *conn, tp_new_task *const *tasks, size_t count, bool again) {
    tp_status status = tpi_deadlines_set(conn, tasks, count, again);
    if (status == TP_OK) status = enter_gates(conn, tasks, count);
    return status == TP_OK ? tpi_groups_enter(conn, tasks, count) : status;
}

tp_status tpi_enqueue_may_search(tp_conn *conn, bool again, bool keyed, bool changes) {
    bool searches = again || changes || (keyed && !(conn->store.caps & TPI_CAP_QUIET_EXISTS));
    bool asks = searches && !conn->store.by_locks;
    tp_status status = asks ? tpi_link_ask_reading(&conn->store.link) : TP_OK;
    if (status != TP_OK || (!again && !changes)) return status;
    return tpi_conn_needs_transaction(conn,
                                      again ? "asking for an id that may be there takes several queries"
                                            : "changing the task with the same key takes several statements");
}

/* An insert that commits by itself may reach the database late, after it was asked again and its task has
 * left the pool, and would put it in once more. So it is stored by a commit, which is sent when the insert
 * was answered; what comes late is rolled back. On a borrowed connection in autocommit mode that cannot be
 * had. */
static tp_status insert_in_scope(tp_conn *conn, tp_new_task *task, bool again) {
    struct tpi_scope scope;
    bool keyed = tpi_new_task_has_key(task);
    bool placed = tpi_new_task_placed(task);
    tp_status status = tpi_enqueue_may_search(conn, again, keyed, tpi_new_task_changes(task));
    if (status == TP_OK && placed) status = tpi_conn_needs_transaction(conn, tpi_enqueue_placed_text);
    if (status != TP_OK) return tpi_conn_doom(conn, status);
    status = tpi_scope_begin_put(conn, &scope, keyed && !again);
    if (status == TP_OK) status = tpi_enqueue_insert(conn, task, again);
    if (status == TP_OK && placed && !task->existing_id[0]) status = tpi_enqueue_enter(conn, &task, 1, again);
    status = tpi_scope_end(conn, &scope, status);
    if (scope.undone) tpi_new_task_unidentify(task);
    return status;
}

/* Of two who bring the same key at the same time one may hear TP_CONFLICT; in a transaction of its own it
 * only has to ask again. */
static tp_status enqueue(tp_conn *conn, tp_new_task *task) {
    tp_status status = tpi_new_task_check(task);
    if (status != TP_OK) return tpi_conn_doom(conn, status);
    bool alone = tpi_conn_is_alone(conn);
    status = insert_in_scope(conn, task, tpi_new_task_identify(task));
    bool rivals = tpi_new_task_has_key(task) || tpi_new_task_placed(task);
    for (int i = 1; i < TRIES && status == TP_CONFLICT && alone && rivals; i++)
        status = insert_in_scope(conn, task, true);
    status = tpi_refused_judge(&conn->store, status, "pending", find_task, task);
    if (status == TP_OK) tpi_conn_enqueued(conn, task);
    return status;
}

tp_status tp_enqueue(tp_conn *conn, tp_new_task *task) {
    struct tpi_new_tasks one;
    tp_status status = tpi_conn_ready_to_put(conn);
    if (status == TP_OK && !task) status = tpi_error(TP_MISUSE, "tp_enqueue: task is NULL");
    if (status == TP_OK) status = tpi_new_tasks_open(&one, task, 1);
    if (status != TP_OK) return tpi_conn_doom(conn, status);
    status = tpi_cut_offs_fill(conn, &one);
    if (status == TP_OK) {
        status = tpi_conn_answer(conn, enqueue(conn, tpi_new_task_at(&one, 0)));
        tpi_cut_offs_clear(&one);
    } else {
        status = tpi_conn_doom(conn, status);
    }
    tpi_new_tasks_close(&one);
    return status;
}
