/* Putting tasks into the pending pool. Ids are made before the database is asked. A task whose id the caller
 * brings is asked again: it is looked for in every pool. The insert comes first and the look at the other
 * pools second, so that a task that moves in between cannot slip through. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "ops/conn.h"
#include "ops/spread.h"

enum { DOCUMENT_MAX = 1024 * 1024, DOCUMENT_ROWS = 1000, ROW_PARAMS_MAX = 4000 };

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
    return TP_OK;
}

static tp_status check_task(tp_new_task *task) {
    char id[TPI_UUID_SIZE];
    if (task->size != sizeof *task)
        return tpi_error(TP_MISUSE, "tp_new_task: start from TP_NEW_TASK_INIT, so that size is right");
    tp_status status = tpi_check_handler(task->handler);
    if (status == TP_OK) status = tpi_check_key("biz_key", task->biz_key);
    if (status == TP_OK) status = tpi_check_key("dedup_key", task->dedup_key);
    if (status == TP_OK) status = tpi_check_params(task->params);
    if (status == TP_OK) status = check_numbers(task);
    if (status == TP_OK) status = tpi_spread_check(task);
    if (status == TP_OK && task->own_id) status = tpi_check_uuid("own_id", task->own_id, id);
    return status;
}

static bool may_be_there(const tp_conn *conn, const tp_new_task *task) {
    if (task->own_id) return true;
    return task->id[0] && (!task->answered || task->answered == conn->lost_transaction);
}

/* An answer is final, or holds once the explicit transaction of this number commits. */
static uint64_t answer_mark(const tp_conn *conn) {
    return conn->store.link.tx == TPI_TX_NONE ? 1 : conn->transaction;
}

/* Gives the task its id: the caller's own, that of an earlier try without an answer, or a new one. True: it
 * may be there already. */
static bool identify(const tp_conn *conn, tp_new_task *task) {
    bool again = may_be_there(conn, task);
    if (task->own_id)
        (void)tpi_uuid_normal(task->own_id, task->id);
    else if (!again)
        tpi_uuid_ordered(task->id);
    task->answered = 0;
    return again;
}

static bool has_key(const tp_new_task *task) {
    return task->dedup_key && *task->dedup_key;
}

/* ---- One --------------------------------------------------------------------------------------------- */

static void fill_args(const tp_new_task *task, struct tpi_args *args) {
    *args = (struct tpi_args){0};
    tpi_args_text(args, TPI_P_id, task->id);
    tpi_args_text(args, TPI_P_handler, task->handler);
    tpi_args_text(args, TPI_P_biz_key, task->biz_key);
    tpi_args_text(args, TPI_P_dedup_key, task->dedup_key);
    tpi_args_text(args, TPI_P_params, task->params);
    tpi_args_number(args, TPI_P_shard, tpi_spread_shard(task));
    tpi_args_number(args, TPI_P_priority, task->priority);
    if (task->max_failures) tpi_args_number(args, TPI_P_max_failures, task->max_failures);
    if (task->due_at) tpi_args_number(args, TPI_P_due_at, task->due_at);
    tpi_args_number(args, TPI_P_delay_ms, task->delay_ms);
}

/* Inserts, unless the id or the key is open already. */
static tp_status insert_one(struct tpi_store *store, struct tpi_args *args, bool may_exist) {
    bool found = false;
    if (may_exist && !(store->caps & TPI_CAP_QUIET_EXISTS)) {
        tp_status status = tpi_store_exists(store, TPI_S_find_open, args, &found);
        if (status != TP_OK) return status;
        if (found) return TP_EXISTS;
    }
    tp_status status = tpi_store_change_one(store, TPI_S_enqueue, args);
    return status == TP_NONE ? TP_EXISTS : status;
}

/* In a transaction. The first look spares what is there an insert and its undoing, and sees one of another
 * handler in a partitioned pool; the second counts: the row just inserted is ours alone, so a task that moves
 * cannot overtake it. */
static tp_status insert_asked_again(struct tpi_store *store, struct tpi_args *args) {
    bool found = false;
    tp_status status = tpi_store_exists(store, TPI_S_find_there, args, &found);
    if (status != TP_OK || found) return status == TP_OK ? TP_EXISTS : status;
    status = insert_one(store, args, true);
    if (status != TP_OK) return status;
    status = tpi_store_exists(store, TPI_S_find_moved, args, &found);
    if (status != TP_OK || !found) return status;
    status = tpi_store_change_one(store, TPI_S_enqueue_undo, args);
    return status == TP_OK ? TP_EXISTS : status;
}

static tp_status insert(struct tpi_store *store, const tp_new_task *task, bool again) {
    struct tpi_args args;
    fill_args(task, &args);
    return again ? insert_asked_again(store, &args) : insert_one(store, &args, has_key(task));
}

/* An insert that commits by itself may reach the database late, after it was asked again and its task has
 * left the pool, and would put it in once more. So it is stored by a commit, which is sent when the insert
 * was answered; what comes late is rolled back. On a borrowed connection in autocommit mode that cannot be
 * had. */
static tp_status insert_in_scope(tp_conn *conn, const tp_new_task *task, bool again) {
    struct tpi_scope scope;
    tp_status status = TP_OK;
    if (again)
        status = tpi_conn_needs_transaction(conn, "asking for an id that may be there takes several looks");
    if (again && status == TP_OK) status = tpi_link_check_reading(&conn->store.link);
    if (status == TP_OK) status = tpi_scope_begin(conn, &scope);
    if (status != TP_OK) return status;
    return tpi_scope_end(conn, &scope, insert(&conn->store, task, again));
}

tp_status tp_enqueue(tp_conn *conn, tp_new_task *task) {
    tp_status status = tpi_conn_ready_to_put(conn);
    if (status != TP_OK) return status;
    if (!task) return tpi_error(TP_MISUSE, "tp_enqueue: task is NULL");
    status = check_task(task);
    if (status != TP_OK) return status;
    bool again = identify(conn, task);
    status = insert_in_scope(conn, task, again);
    task->answered = status >= TP_OK ? answer_mark(conn) : 0;
    if (status == TP_OK) tpi_conn_enqueued(conn, task);
    return status;
}

/* ---- Many -------------------------------------------------------------------------------------------- */

/* Tasks that were not sent yet, in the form the dialect takes. */
struct bulk {
    tp_conn *conn;
    struct tpi_store *store;
    struct tpi_args *rows;   /* NULL with TPI_CAP_DOCUMENT */
    struct tpi_buf document; /* with it */
    size_t count;
    bool keyed; /* one of them may be there by its key; their ids are all new */
    size_t inserted;
};

static void add_text(struct tpi_buf *document, const char *text) {
    if (text && *text)
        tpi_buf_json(document, text);
    else
        tpi_buf_text(document, "null");
    tpi_buf_char(document, ',');
}

static void add_number(struct tpi_buf *document, bool present, int64_t number, char end) {
    if (present)
        tpi_buf_int(document, number);
    else
        tpi_buf_text(document, "null");
    tpi_buf_char(document, end);
}

static void add_to_document(struct tpi_buf *document, const tp_new_task *task) {
    tpi_buf_char(document, document->length ? ',' : '[');
    tpi_buf_char(document, '[');
    add_text(document, task->id);
    add_text(document, task->handler);
    add_text(document, task->biz_key);
    add_text(document, task->dedup_key);
    add_text(document, task->params);
    add_number(document, true, tpi_spread_shard(task), ',');
    add_number(document, true, task->priority, ',');
    add_number(document, task->max_failures != 0, task->max_failures, ',');
    add_number(document, task->due_at != 0, task->due_at, ',');
    add_number(document, true, task->delay_ms, ']');
}

static tp_status send_document(struct bulk *bulk, int64_t *rows) {
    struct tpi_args args = {0};
    bool all_new = !bulk->keyed && (bulk->store->caps & TPI_CAP_ENQUEUE_NEW);
    tpi_buf_char(&bulk->document, ']');
    if (bulk->document.failed) return tpi_error(TP_NOMEM, "out of memory");
    tpi_args_text(&args, TPI_P_document, bulk->document.data);
    return tpi_store_change(bulk->store, all_new ? TPI_S_enqueue_new : TPI_S_enqueue_many, &args, rows);
}

/* Sends what was gathered. Without quiet inserts every row was known to be new, so all must come in. */
static tp_status flush(struct bulk *bulk) {
    int64_t rows = 0;
    if (bulk->count == 0) return TP_OK;
    tp_status status =
        bulk->rows ? tpi_store_change_rows(bulk->store, TPI_S_enqueue_many, bulk->rows, bulk->count, &rows)
                   : send_document(bulk, &rows);
    if (status != TP_OK) return status;
    if (!(bulk->store->caps & TPI_CAP_QUIET_EXISTS) && rows != (int64_t)bulk->count)
        return tpi_error(TP_DB, "of %zu tasks only %lld were stored; nothing is kept", bulk->count,
                         (long long)rows);
    bulk->inserted += (size_t)rows;
    bulk->count = 0;
    bulk->keyed = false;
    tpi_buf_clear(&bulk->document);
    return TP_OK;
}

static bool full(const struct bulk *bulk) {
    if (bulk->rows) return bulk->count >= TPI_ROWS_MAX;
    return bulk->count >= DOCUMENT_ROWS || bulk->document.length >= DOCUMENT_MAX;
}

static tp_status gather(struct bulk *bulk, const tp_new_task *task) {
    if (bulk->rows)
        fill_args(task, &bulk->rows[bulk->count]);
    else
        add_to_document(&bulk->document, task);
    bulk->count++;
    bulk->keyed = bulk->keyed || has_key(task);
    return full(bulk) ? flush(bulk) : TP_OK;
}

/* Repeated rows pass through a union, in which some databases take no long text and some trim blanks. */
static bool suffers_in_rows(const char *params) {
    size_t length = params ? strlen(params) : 0;
    return length > ROW_PARAMS_MAX || (length && params[length - 1] == ' ');
}

/* Rows that may be there already are only passed over quietly; and some databases take long text only in an
 * insert of its own. Such tasks go one by one. */
static bool goes_alone(const struct tpi_store *store, const tp_new_task *task, bool again) {
    if (again) return true;
    if (has_key(task) && !(store->caps & TPI_CAP_QUIET_EXISTS)) return true;
    return !(store->caps & TPI_CAP_DOCUMENT) && suffers_in_rows(task->params);
}

static tp_status send_alone(struct bulk *bulk, const tp_new_task *task, bool again) {
    tp_status status = insert(bulk->store, task, again);
    if (status == TP_OK) bulk->inserted++;
    return status == TP_EXISTS ? TP_OK : status;
}

static tp_status send_all(struct bulk *bulk, tp_new_task *tasks, size_t count) {
    tp_status status = TP_OK;
    for (size_t i = 0; i < count && status == TP_OK; i++) {
        bool again = identify(bulk->conn, &tasks[i]);
        status = goes_alone(bulk->store, &tasks[i], again) ? send_alone(bulk, &tasks[i], again)
                                                           : gather(bulk, &tasks[i]);
    }
    return status == TP_OK ? flush(bulk) : status;
}

static tp_status check_all(tp_new_task *tasks, size_t count) {
    for (size_t i = 0; i < count; i++) {
        tp_status status = check_task(&tasks[i]);
        if (status == TP_OK) continue;
        const tp_error *error = tp_last_error();
        return tpi_error(status, "task %zu of %zu: %s", i + 1, count, error->text);
    }
    return TP_OK;
}

/* Without a transaction many are all or none only in one statement, and nothing may be taken back. */
static tp_status check_borrowed(tp_conn *conn, const tp_new_task *tasks, size_t count) {
    size_t bytes = 0, most = conn->store.caps & TPI_CAP_DOCUMENT ? DOCUMENT_ROWS : TPI_ROWS_MAX;
    bool alone = false, again = false;
    if (conn->store.link.owned) return TP_OK;
    for (size_t i = 0; i < count; i++) {
        bool may_be = may_be_there(conn, &tasks[i]);
        bytes += tasks[i].params ? strlen(tasks[i].params) : 0;
        again = again || may_be;
        alone = alone || goes_alone(&conn->store, &tasks[i], may_be);
    }
    if (again) {
        tp_status status = tpi_link_check_reading(&conn->store.link);
        if (status != TP_OK) return status;
        return tpi_conn_needs_transaction(conn, "asking for an id that may be there takes several looks");
    }
    if (count == 1 || (count <= most && bytes < DOCUMENT_MAX / 8 && !alone)) return TP_OK;
    return tpi_conn_needs_transaction(conn, alone ? "some of these tasks go in statements of their own"
                                                  : "so many tasks take several statements");
}

/* Ids must not change between a failed try and the next, so those that were to be made are made at once. */
static tp_status enqueue_in_scope(tp_conn *conn, tp_new_task *tasks, size_t count, struct bulk *bulk) {
    struct tpi_scope scope;
    tp_status status = tpi_scope_begin(conn, &scope);
    if (status != TP_OK) return status;
    return tpi_scope_end(conn, &scope, send_all(bulk, tasks, count));
}

static bool same_lane(const tp_new_task *a, const tp_new_task *b) {
    return strcmp(a->handler, b->handler) == 0 && a->priority == b->priority;
}

/* One call for each run of tasks of the same handler and priority. */
static void tell_workers(tp_conn *conn, const tp_new_task *tasks, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (i == 0 || !same_lane(&tasks[i], &tasks[i - 1])) tpi_conn_enqueued(conn, &tasks[i]);
}

tp_status tp_enqueue_many(tp_conn *conn, tp_new_task *tasks, size_t count, size_t *inserted) {
    tp_status status = tpi_conn_ready_to_put(conn);
    if (status != TP_OK) return status;
    if (!tasks && count) return tpi_error(TP_MISUSE, "tp_enqueue_many: tasks is NULL");
    status = check_all(tasks, count);
    if (status == TP_OK) status = check_borrowed(conn, tasks, count);
    if (status != TP_OK) return status;
    struct bulk bulk = {.conn = conn, .store = &conn->store};
    if (!(conn->store.caps & TPI_CAP_DOCUMENT)) {
        bulk.rows = calloc(TPI_ROWS_MAX, sizeof *bulk.rows);
        if (!bulk.rows) return tpi_link_no_memory(&conn->store.link);
    }
    if (count) status = enqueue_in_scope(conn, tasks, count, &bulk);
    tpi_buf_free(&bulk.document);
    free(bulk.rows);
    for (size_t i = 0; i < count && status == TP_OK; i++)
        tasks[i].answered = answer_mark(conn);
    if (status == TP_OK && bulk.inserted) tell_workers(conn, tasks, count);
    if (status == TP_OK && inserted) *inserted = bulk.inserted;
    return status;
}
