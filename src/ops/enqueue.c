/* Putting one task into the pending pool. Ids are made before the database is asked. A task that comes with
 * its id is asked again: it is looked for in every pool. The insert comes first and the look at the other
 * pools second, so that a task that moves in between cannot slip through. That something is there is seen,
 * never inferred from an insert that wrote nothing. Read next: enqueue_many.c. */
#include "ops/enqueue.h"

#include "base/error.h"
#include "ops/new_task.h"
#include "ops/refused.h"

/* A key that is there may be gone at the next look, and the other way round. */
enum { TRIES = 5 };

/* ---- In a transaction ---------------------------------------------------------------------------------- */

/* TP_NONE: it has no key, or no open task has it. */
static tp_status find_key(struct tpi_store *store, tp_new_task *task) {
    if (!tpi_new_task_has_key(task)) return TP_NONE;
    tp_status status = tpi_enqueue_find_keys(store, &task, 1);
    if (status != TP_OK) return status;
    return task->existing_id[0] ? TP_EXISTS : TP_NONE;
}

static tp_status insert(struct tpi_store *store, tp_new_task *task, struct tpi_args *args, bool again) {
    bool quiet = store->caps & TPI_CAP_QUIET_EXISTS;
    for (int i = 0; i < TRIES; i++) {
        tp_status status = quiet ? TP_NONE : find_key(store, task);
        if (status == TP_NONE) status = tpi_store_change_one(store, TPI_S_enqueue, args);
        if (status == TP_NONE && again) status = tpi_new_task_find(store, task);
        if (status == TP_NONE) status = find_key(store, task);
        if (status != TP_NONE) return status;
    }
    return tpi_refused_silently(store, "stored no task, and neither its id nor its dedup_key is there",
                                "pending");
}

/* The first look spares what is there an insert and its undoing, and sees one of another handler in a
 * partitioned pool; the second counts: the row just inserted is ours alone, so a task that moves cannot
 * overtake it. */
static tp_status insert_again(struct tpi_store *store, tp_new_task *task, struct tpi_args *args) {
    bool moved = false;
    tp_status status = tpi_new_task_find(store, task);
    if (status != TP_NONE) return status;
    status = insert(store, task, args, true);
    if (status != TP_OK) return status;
    status = tpi_store_exists(store, TPI_S_find_moved, args, &moved);
    if (status != TP_OK || !moved) return status;
    status = tpi_store_change_one(store, TPI_S_enqueue_undo, args);
    if (status == TP_OK) status = tpi_new_task_find(store, task);
    return status == TP_NONE ? tpi_error(TP_CONFLICT, "the task was there and is gone again; ask again")
                             : status;
}

tp_status tpi_enqueue_insert(struct tpi_store *store, tp_new_task *task, bool again) {
    struct tpi_args args;
    tpi_new_task_args(task, &args);
    return again ? insert_again(store, task, &args) : insert(store, task, &args, false);
}

/* ---- The call ------------------------------------------------------------------------------------------ */

tp_status tpi_enqueue_may_look(tp_conn *conn, bool again, bool keyed) {
    bool looks = again || (keyed && !(conn->store.caps & TPI_CAP_QUIET_EXISTS));
    tp_status status = looks ? tpi_link_ask_reading(&conn->store.link) : TP_OK;
    if (status != TP_OK || !again) return status;
    return tpi_conn_needs_transaction(conn, "asking for an id that may be there takes several looks");
}

/* An insert that commits by itself may reach the database late, after it was asked again and its task has
 * left the pool, and would put it in once more. So it is stored by a commit, which is sent when the insert
 * was answered; what comes late is rolled back. On a borrowed connection in autocommit mode that cannot be
 * had. */
static tp_status insert_in_scope(tp_conn *conn, tp_new_task *task, bool again) {
    struct tpi_scope scope;
    tp_status status = tpi_enqueue_may_look(conn, again, tpi_new_task_has_key(task));
    if (status != TP_OK) return tpi_conn_doom(conn, status);
    status = tpi_scope_begin(conn, &scope);
    if (status != TP_OK) return status;
    return tpi_scope_end(conn, &scope, tpi_enqueue_insert(&conn->store, task, again));
}

/* TP_NONE: nothing of the task is there. */
static tp_status look_for_task(struct tpi_store *store, void *arg) {
    tp_new_task *task = arg;
    tp_status status = find_key(store, task);
    return status == TP_NONE ? tpi_new_task_find(store, task) : status;
}

/* Of two who bring the same key at the same time one may hear TP_CONFLICT; in a transaction of its own it
 * only has to look again. */
static tp_status enqueue(tp_conn *conn, tp_new_task *task) {
    tp_status status = tpi_new_task_check(task);
    if (status != TP_OK) return tpi_conn_doom(conn, status);
    bool alone = tpi_conn_is_alone(conn);
    status = insert_in_scope(conn, task, tpi_new_task_identify(task));
    for (int i = 1; i < TRIES && status == TP_CONFLICT && alone && tpi_new_task_has_key(task); i++)
        status = insert_in_scope(conn, task, true);
    status = tpi_refused_judge(&conn->store, status, "pending", look_for_task, task);
    if (status == TP_OK) tpi_conn_enqueued(conn, task);
    return status;
}

tp_status tp_enqueue(tp_conn *conn, tp_new_task *task) {
    struct tpi_new_tasks one;
    tp_status status = tpi_conn_ready_to_put(conn);
    if (status == TP_OK && !task) status = tpi_error(TP_MISUSE, "tp_enqueue: task is NULL");
    if (status == TP_OK) status = tpi_new_tasks_open(&one, task, 1);
    if (status != TP_OK) return tpi_conn_doom(conn, status);
    status = tpi_conn_answer(conn, enqueue(conn, tpi_new_task_at(&one, 0)));
    tpi_new_tasks_close(&one);
    return status;
}
