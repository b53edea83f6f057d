/* tp_enqueue_many: puts many tasks in, all or none, one group after the other: as one JSON document, or as
 * one statement of repeated rows. Put in one by one (enqueue.c) are tasks that may be there already, and
 * those whose params repeated rows might refuse or trim. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "ops/cut_off.h"
#include "ops/enqueue.h"
#include "ops/new_task.h"
#include "ops/refused.h"
#include "ops/sharding.h"

enum { DOCUMENT_MAX = 1024 * 1024, DOCUMENT_ROWS = 1000, ROW_PARAMS_MAX = 4000, TRIES = 3 };

/* Tasks that were not sent yet. */
struct bulk {
    tp_conn *conn;
    struct tpi_store *store;
    tp_new_task *tasks[DOCUMENT_ROWS];
    size_t count;
    size_t bytes;            /* of their params */
    tp_new_task **keyed;     /* room for those of them that have a dedup_key */
    size_t keyed_count;      /* how many have */
    tp_new_task **all_keyed; /* of the whole call, by key; NULL: none of them is asked again */
    size_t all_keyed_count;
    tp_new_task **placed;    /* room for those that get a place; NULL: none of the call's do */
    struct tpi_args *rows;   /* NULL with TPI_CAP_DOCUMENT */
    struct tpi_buf document; /* with it */
    size_t inserted;
    bool again; /* one of those sent may be there already */
};

/* ---- Sending a set ------------------------------------------------------------------------------------- */

/* Of a task's array: separators and nulls are only written in front of a value, so that those at the end,
 * which a plain task has many of, cost nothing. */
struct row {
    struct tpi_buf *document;
    size_t skipped;
};

static void go_to_value(struct row *row) {
    for (; row->skipped; row->skipped--)
        tpi_buf_text(row->document, ",null");
    tpi_buf_char(row->document, ',');
}

static void add_text(struct row *row, const char *text) {
    if (!text || !*text) {
        row->skipped++;
        return;
    }
    go_to_value(row);
    tpi_buf_json(row->document, text);
}

/* 0: null, which is the default everywhere. */
static void add_number(struct row *row, int64_t number) {
    if (!number) {
        row->skipped++;
        return;
    }
    go_to_value(row);
    tpi_buf_int(row->document, number);
}

/* In the order in which tasks have them, as the statements read them. */
static void add_to_document(struct tpi_buf *document, const tp_new_task *task) {
    struct row row = {.document = document};
    tpi_buf_char(document, document->length ? ',' : '[');
    tpi_buf_text(document, "[\"");
    tpi_buf_text(document, task->id);
    tpi_buf_char(document, '"');
    add_text(&row, task->handler);
    add_text(&row, task->params);
    add_text(&row, task->biz_key);
    add_text(&row, task->dedup_key);
    add_number(&row, task->priority);
    add_number(&row, tpi_sharding_shard(task));
    add_number(&row, task->delay_ms);
    add_number(&row, task->due_at);
    add_number(&row, task->max_failures);
    tpi_buf_char(document, ']');
}

static tp_status send_document(struct bulk *bulk, int64_t *rows) {
    struct tpi_args args = {0};
    bool all_new = !bulk->keyed_count && (bulk->store->caps & TPI_CAP_ENQUEUE_NEW);
    tpi_buf_clear(&bulk->document);
    for (size_t i = 0; i < bulk->count; i++)
        add_to_document(&bulk->document, bulk->tasks[i]);
    tpi_buf_char(&bulk->document, ']');
    if (bulk->document.failed) return tpi_error(TP_NOMEM, "out of memory");
    tpi_args_text(&args, TPI_P_document, bulk->document.data);
    return tpi_store_change(bulk->store, all_new ? TPI_S_enqueue_new : TPI_S_enqueue_many, &args, rows);
}

/* ---- Keys ---------------------------------------------------------------------------------------------- */

static tp_status find_keys(struct bulk *bulk) {
    size_t count = 0;
    for (size_t i = 0; i < bulk->count; i++)
        if (tpi_new_task_has_key(bulk->tasks[i])) bulk->keyed[count++] = bulk->tasks[i];
    return tpi_enqueue_find_keys(bulk->store, bulk->keyed, count);
}

/* Where what is there cannot be passed over without an error. Of those that bring the same key the first goes
 * in. */
static tp_status leave_out_existing(struct bulk *bulk) {
    size_t kept = 0;
    tp_status status = find_keys(bulk);
    if (status != TP_OK) return status;
    for (size_t i = 1; i < bulk->keyed_count; i++) {
        const tp_new_task *before = bulk->keyed[i - 1];
        const char *id = before->existing_id[0] ? before->existing_id : before->id;
        if (strcmp(before->dedup_key, bulk->keyed[i]->dedup_key) == 0)
            memcpy(bulk->keyed[i]->existing_id, id, TP_ID_SIZE);
    }
    for (size_t i = 0; i < bulk->count; i++)
        if (!bulk->tasks[i]->existing_id[0]) bulk->tasks[kept++] = bulk->tasks[i];
    bulk->count = kept;
    return TP_OK;
}

static tp_status send_alone(struct bulk *bulk, tp_new_task *task, bool again) {
    tp_status status = tpi_enqueue_insert(bulk->conn, task, again);
    if (status == TP_OK && !task->existing_id[0]) bulk->inserted++;
    return status == TP_EXISTS ? TP_OK : status;
}

/* Fewer rows came in than were sent: those whose keys are there, seen one by one. What came in is found by
 * its own key. */
static tp_status see_existing(struct bulk *bulk, int64_t rows) {
    int64_t stored = (int64_t)(bulk->count - bulk->keyed_count);
    tp_status status = find_keys(bulk);
    for (size_t i = 0; i < bulk->keyed_count && status == TP_OK; i++) {
        tp_new_task *task = bulk->keyed[i];
        if (!task->existing_id[0]) {
            status = send_alone(bulk, task, false);
        } else if (strcmp(task->existing_id, task->id) == 0) {
            task->existing_id[0] = '\0';
            stored++;
        }
    }
    if (status != TP_OK || stored == rows) return status;
    return tpi_refused_silently(bulk->store, "stored some tasks and not the others", "pending");
}

/* ---- Gathering ----------------------------------------------------------------------------------------- */

static tp_status send_rows(struct bulk *bulk, int64_t *rows) {
    if (!bulk->rows) return send_document(bulk, rows);
    for (size_t i = 0; i < bulk->count; i++)
        tpi_new_task_args(bulk->tasks[i], &bulk->rows[i]);
    return tpi_store_change_rows(bulk->store, TPI_S_enqueue_many, bulk->rows, bulk->count, rows);
}

/* By locking reads: the insert of all of them met a key that is there, and was undone. Those that can be seen
 * are left out; one that the transaction's level hides is met again, and all go one by one. */
static tp_status send_past_existing(struct bulk *bulk, int64_t *rows) {
    tp_status status = leave_out_existing(bulk);
    if (status != TP_OK || bulk->count == 0) return status;
    status = send_rows(bulk, rows);
    if (!tpi_refused_as_there(status)) return status;
    status = TP_OK;
    for (size_t i = 0; i < bulk->count && status == TP_OK; i++)
        status = send_alone(bulk, bulk->tasks[i], false);
    bulk->count = 0;
    return status;
}

static tp_status send_set(struct bulk *bulk) {
    int64_t rows = 0;
    bool quiet = bulk->store->caps & TPI_CAP_QUIET_EXISTS, first = quiet || bulk->store->by_locks;
    tp_status status = bulk->keyed_count && !first ? leave_out_existing(bulk) : TP_OK;
    if (status != TP_OK || bulk->count == 0) return status;
    status = send_rows(bulk, &rows);
    bool there = bulk->keyed_count && bulk->store->by_locks && tpi_refused_as_there(status);
    if (there) status = send_past_existing(bulk, &rows);
    if (status != TP_OK || bulk->count == 0) return status;
    bulk->inserted += (size_t)rows;
    if (rows == (int64_t)bulk->count) return TP_OK;
    if (!quiet) bulk->keyed_count = 0; /* their keys were not there */
    return see_existing(bulk, rows);
}

static tp_status flush(struct bulk *bulk) {
    tp_status status = send_set(bulk);
    bulk->count = bulk->bytes = bulk->keyed_count = 0;
    return status;
}

/* What may be there; and where repeated rows pass through a union, in which some databases take no long text
 * and some trim blanks, what would suffer there. */
static bool goes_alone(const struct tpi_store *store, const tp_new_task *task, bool again) {
    size_t length = task->params ? strlen(task->params) : 0;
    bool suffers = length > ROW_PARAMS_MAX || (length && task->params[length - 1] == ' ');
    return again || tpi_new_task_changes(task) || tpi_new_task_gated(task) ||
           (suffers && !(store->caps & TPI_CAP_DOCUMENT));
}

static tp_status send_one(struct bulk *bulk, tp_new_task *task) {
    bool asked = task->content != 0, keyed = tpi_new_task_has_key(task);
    bool again = tpi_new_task_identify(task);
    bulk->again = bulk->again || again;
    const tp_new_task *first = tpi_enqueue_first_with_key(bulk->all_keyed, bulk->all_keyed_count, task);
    tp_status status = TP_OK;
    if (again && asked && first && first != task && !tpi_new_task_changes(task)) {
        /* Of two with the same key that were both asked for before, the second must not come in because the
         * first has ended meanwhile. It may be there by itself. */
        status = tpi_new_task_find(bulk->store, task);
        if (status != TP_NONE) return status == TP_EXISTS ? TP_OK : status;
        memcpy(task->existing_id, first->existing_id[0] ? first->existing_id : first->id, TP_ID_SIZE);
        return TP_OK;
    }
    if (goes_alone(bulk->store, task, again)) {
        /* What was gathered may have the same key. */
        if (bulk->keyed_count && keyed) status = flush(bulk);
        return status == TP_OK ? send_alone(bulk, task, again) : status;
    }
    bulk->tasks[bulk->count++] = task;
    bulk->bytes += task->params ? strlen(task->params) : 0;
    bulk->keyed_count += keyed;
    bool full = bulk->rows ? bulk->count >= TPI_ROWS_MAX
                           : bulk->count >= DOCUMENT_ROWS || bulk->bytes >= DOCUMENT_MAX;
    return full ? flush(bulk) : TP_OK;
}

/* ---- Checking ------------------------------------------------------------------------------------------ */

/* Each task; and without a transaction many are all or none only in one statement, and nothing may be taken
 * back. */
static tp_status check(tp_conn *conn, const struct tpi_new_tasks *tasks) {
    size_t bytes = 0, count = tasks->count,
           most = conn->store.caps & TPI_CAP_DOCUMENT ? DOCUMENT_ROWS : TPI_ROWS_MAX;
    bool alone = false, again = false, keyed = false, changes = false, placed = false;
    for (size_t i = 0; i < count; i++) {
        const tp_new_task *task = tpi_new_task_at(tasks, i);
        tp_status status = tpi_new_task_check(task);
        if (status != TP_OK)
            return tpi_error(status, "task %zu of %zu: %s", i + 1, count, tp_last_error()->text);
        bool has_id = task->id[0] != '\0';
        bytes += task->params ? strlen(task->params) : 0;
        again = again || has_id;
        keyed = keyed || tpi_new_task_has_key(task);
        changes = changes || tpi_new_task_changes(task);
        placed = placed || tpi_new_task_placed(task);
        alone = alone || goes_alone(&conn->store, task, has_id);
    }
    tp_status status = tpi_enqueue_may_search(conn, again, keyed, changes);
    if (status == TP_OK && placed) status = tpi_conn_needs_transaction(conn, tpi_enqueue_placed_text);
    if (status != TP_OK || conn->store.link.owned || count == 1) return status;
    if (keyed) return tpi_conn_needs_transaction(conn, "keys that are there take several queries");
    if (count <= most && bytes < DOCUMENT_MAX / 8 && !alone) return TP_OK;
    return tpi_conn_needs_transaction(conn, alone ? "some of these tasks go in statements of their own"
                                                  : "so many tasks take several statements");
}

/* ---- The call ------------------------------------------------------------------------------------------ */

static tp_status make_room(struct bulk *bulk, const struct tpi_new_tasks *tasks) {
    bool in_rows = !(bulk->store->caps & TPI_CAP_DOCUMENT), again = false, placed = false;
    bulk->keyed = calloc(DOCUMENT_ROWS, sizeof(tp_new_task *));
    if (in_rows) bulk->rows = calloc(TPI_ROWS_MAX, sizeof *bulk->rows);
    if (!bulk->keyed || (in_rows && !bulk->rows)) return tpi_link_no_memory(&bulk->store->link);
    for (size_t i = 0; i < tasks->count; i++) {
        const tp_new_task *task = tpi_new_task_at(tasks, i);
        again = again || (task->id[0] && tpi_new_task_has_key(task));
        placed = placed || tpi_new_task_placed(task);
    }
    if (placed) bulk->placed = calloc(tasks->count, sizeof(tp_new_task *));
    if (placed && !bulk->placed) return tpi_link_no_memory(&bulk->store->link);
    if (!again) return TP_OK;
    bulk->all_keyed = calloc(tasks->count, sizeof(tp_new_task *));
    if (!bulk->all_keyed) return tpi_link_no_memory(&bulk->store->link);
    for (size_t i = 0; i < tasks->count; i++) {
        tp_new_task *task = tpi_new_task_at(tasks, i);
        if (tpi_new_task_has_key(task)) bulk->all_keyed[bulk->all_keyed_count++] = task;
    }
    tpi_enqueue_sort_by_key(bulk->all_keyed, bulk->all_keyed_count);
    return TP_OK;
}

/* TP_NONE: no key of the tasks is there but by a task that this transaction put in itself. */
static tp_status find_tasks(struct tpi_store *store, void *arg) {
    const struct tpi_new_tasks *tasks = arg;
    tp_status status = TP_NONE;
    for (size_t i = 0; i < tasks->count && status == TP_NONE; i++) {
        tp_new_task *task = tpi_new_task_at(tasks, i);
        if (!tpi_new_task_has_key(task)) continue;
        status = tpi_enqueue_find_keys(store, &task, 1);
        bool own = strcmp(task->existing_id, task->id) == 0;
        if (status == TP_OK && (own || !task->existing_id[0])) status = TP_NONE;
        if (own) task->existing_id[0] = '\0';
    }
    return status;
}

static bool some_has_key(const struct tpi_new_tasks *tasks) {
    bool keyed = false;
    for (size_t i = 0; i < tasks->count && !keyed; i++)
        keyed = tpi_new_task_has_key(tpi_new_task_at(tasks, i));
    return keyed;
}

/* To those that were put in. */
static tp_status give_places(struct bulk *bulk, const struct tpi_new_tasks *tasks) {
    size_t count = 0;
    for (size_t i = 0; i < tasks->count; i++) {
        tp_new_task *task = tpi_new_task_at(tasks, i);
        if (tpi_new_task_placed(task) && !task->existing_id[0]) bulk->placed[count++] = task;
    }
    return count ? tpi_enqueue_enter(bulk->conn, bulk->placed, count, bulk->again) : TP_OK;
}

static tp_status enqueue_in_scope(struct bulk *bulk, const struct tpi_new_tasks *tasks) {
    struct tpi_scope scope;
    tp_status status = make_room(bulk, tasks);
    if (status == TP_OK) {
        status = tpi_scope_begin_put(bulk->conn, &scope, some_has_key(tasks));
        for (size_t i = 0; i < tasks->count && status == TP_OK; i++)
            status = send_one(bulk, tpi_new_task_at(tasks, i));
        if (status == TP_OK) status = flush(bulk);
        if (status == TP_OK && bulk->placed) status = give_places(bulk, tasks);
        status = tpi_scope_end(bulk->conn, &scope, status);
        for (size_t i = 0; scope.undone && i < tasks->count; i++)
            tpi_new_task_unidentify(tpi_new_task_at(tasks, i));
    }
    tpi_buf_free(&bulk->document);
    free(bulk->rows);
    free(bulk->keyed);
    free(bulk->all_keyed);
    free(bulk->placed);
    return status;
}

/* One call for each run of tasks of the same handler and priority. */
static void wake_workers(tp_conn *conn, const struct tpi_new_tasks *tasks) {
    const tp_new_task *last = NULL;
    for (size_t i = 0; i < tasks->count; i++) {
        const tp_new_task *task = tpi_new_task_at(tasks, i);
        bool same = last && strcmp(task->handler, last->handler) == 0 && task->priority == last->priority;
        if (!same) tpi_conn_enqueued(conn, task);
        last = task;
    }
}

static tp_status enqueue(tp_conn *conn, const struct tpi_new_tasks *tasks, size_t *inserted) {
    tp_status status = check(conn, tasks);
    if (status != TP_OK) return tpi_conn_doom(conn, status);
    struct bulk bulk = {.conn = conn, .store = &conn->store};
    bool alone = tpi_conn_is_alone(conn);
    if (tasks->count) status = enqueue_in_scope(&bulk, tasks);
    /* Another brought one of the keys at the same time: the next try sees it. */
    for (int i = 1; i < TRIES && alone && tpi_refused_as_there(status); i++) {
        bulk = (struct bulk){.conn = conn, .store = &conn->store};
        status = enqueue_in_scope(&bulk, tasks);
    }
    status = tpi_refused_judge(&conn->store, status, "pending", find_tasks, (void *)tasks);
    if (status == TP_OK && bulk.inserted) wake_workers(conn, tasks);
    if (status == TP_OK && inserted) *inserted = bulk.inserted;
    return status;
}

tp_status tp_enqueue_many(tp_conn *conn, tp_new_task *tasks, size_t count, size_t *inserted) {
    struct tpi_new_tasks all;
    tp_status status = tpi_conn_ready_to_put(conn);
    if (status == TP_OK && !tasks && count) status = tpi_error(TP_MISUSE, "tp_enqueue_many: tasks is NULL");
    if (status == TP_OK) status = tpi_new_tasks_open(&all, tasks, count);
    if (status != TP_OK) return tpi_conn_doom(conn, status);
    status = tpi_cut_offs_fill(conn, &all);
    if (status == TP_OK) {
        status = tpi_conn_answer(conn, enqueue(conn, &all, inserted));
        tpi_cut_offs_clear(&all);
    } else {
        status = tpi_conn_doom(conn, status);
    }
    tpi_new_tasks_close(&all);
    return status;
}
