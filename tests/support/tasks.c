/* Enqueues, claims and reads tasks for tests. See tasks.h. */
#include "support/tasks.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Enqueue ----------------------------------------------------------------------------------------- */

tp_new_task task_new(const char *params) {
    tp_new_task task = TP_NEW_TASK_INIT;
    task.handler = pool.handler;
    task.params = params;
    task.due_at = LONG_AGO;
    return task;
}

void task_set_id(tp_new_task *task, const char *id) {
    if (task->id != id) snprintf(task->id, sizeof task->id, "%s", id);
}

void task_put(const char *params, char id[ID]) {
    tp_new_task task = task_new(params);
    must(tp_enqueue(pool.eye, &task));
    memcpy(id, task.id, ID);
}

void task_put_many(size_t count, char (*ids)[ID]) {
    tp_new_task *tasks = calloc(count, sizeof *tasks);
    size_t inserted = 0;
    assert_non_null(tasks);
    for (size_t i = 0; i < count; i++)
        tasks[i] = task_new("x");
    must(tp_enqueue_many(pool.eye, tasks, count, &inserted));
    expect_number(inserted, count);
    for (size_t i = 0; ids && i < count; i++)
        memcpy(ids[i], tasks[i].id, ID);
    free(tasks);
}

/* ---- Claim ------------------------------------------------------------------------------------------- */

tp_claim_request claim_request(size_t limit) {
    tp_claim_request request = TP_CLAIM_INIT;
    request.handlers = pool.handlers;
    request.handler_count = 1;
    request.limit = limit;
    request.plan = pool.plan;
    return request;
}

tp_batch *claim_up_to(tp_conn *conn, size_t limit) {
    tp_claim_request request = claim_request(limit);
    tp_batch *batch = NULL;
    must(tp_claim(conn, &request, &batch));
    return batch;
}

tp_batch *claim(tp_conn *conn, size_t count) {
    tp_batch *batch = claim_up_to(conn, count);
    expect_number(tp_batch_count(batch), count);
    return batch;
}

tp_batch *claim_this(tp_conn *conn, const char *id, const tp_task **task) {
    tp_batch *batch = claim(conn, 1);
    *task = tp_batch_task(batch, 0);
    assert_string_equal((*task)->id, id);
    return batch;
}

tp_batch *put_and_claim(tp_conn *conn, const tp_task **task) {
    char id[ID];
    task_put("x", id);
    return claim_this(conn, id, task);
}

void check_nothing(tp_conn *conn, const char *file, int line) {
    tp_claim_request request = claim_request(10);
    tp_batch *batch = NULL;
    tp_status status = tp_claim(conn, &request, &batch);
    size_t count = tp_batch_count(batch);
    if (count) print_error("%zu tasks were claimed where none may be\n", count);
    tp_batch_free(batch);
    check_status(TP_NONE, status, "tp_claim", file, line);
}

bool batch_holds(const tp_batch *batch, const char *id) {
    for (size_t i = 0; i < tp_batch_count(batch); i++)
        if (strcmp(tp_batch_task(batch, i)->id, id) == 0) return true;
    return false;
}

/* ---- Rows -------------------------------------------------------------------------------------------- */

static void read_row(const struct sql_row *cells, struct row *row) {
    row->copies = 1;
    snprintf(row->pool, sizeof row->pool, "%.11s", cells->cell[0]);
    snprintf(row->state, sizeof row->state, "%.11s", cells->cell[1]);
    row->failures = (int)strtol(cells->cell[2], NULL, 10);
    snprintf(row->owner, sizeof row->owner, "%.39s", cells->cell[3]);
    for (char *at = row->owner; *at; at++) /* one driver writes UUIDs in capitals */
        *at = (char)tolower((unsigned char)*at);
    snprintf(row->reason, sizeof row->reason, "%s", cells->cell[4]);
    row->due_at = strtoll(cells->cell[5], NULL, 10);
    row->modified_at = strtoll(cells->cell[6], NULL, 10);
    row->settled_at = strtoll(cells->cell[7], NULL, 10);
}

struct row row_of(const char *id) {
    static const struct {
        const char *pool, *settled;
    } pools[] = {{"pending", "0"}, {"finished", "settled_at"}, {"failed", "settled_at"}};
    struct row row;
    struct sql_row cells;
    int copies = 0;
    memset(&row, 0, sizeof row);
    for (size_t i = 0; i < 3; i++) {
        if (!sql_row(
                pool.eye, &cells,
                "SELECT '%s', state, failures, owner, reason, due_at, modified_at, %s FROM tp_%s WHERE id = "
                "'%s'",
                pools[i].pool, pools[i].settled, pools[i].pool, id))
            continue;
        copies++;
        read_row(&cells, &row);
    }
    row.copies = copies;
    return row;
}

void check_row(const char *id, const char *in, const char *state, int failures, const char *file, int line) {
    struct row row = row_of(id);
    if (row.copies == 1 && strcmp(row.pool, in) == 0 && strcmp(row.state, state) == 0 &&
        row.failures == failures)
        return;
    print_error("task %s: %d rows, %s in the %s pool with %d failures; must be %s in the %s pool with %d\n",
                id, row.copies, row.state, row.pool, row.failures, state, in, failures);
    _fail(file, line);
}

static void print_row(const char *what, const struct row *row) {
    print_error("  %s: %d rows, pool %s, state %s, failures %d, owner %s, due %" PRId64 ", modified %" PRId64
                ", settled %" PRId64 ", reason '%s'\n",
                what, row->copies, row->pool, row->state, row->failures, row->owner, row->due_at,
                row->modified_at, row->settled_at, row->reason);
}

void check_same(const char *id, const struct row *before, const char *file, int line) {
    struct row now = row_of(id);
    if (memcmp(&now, before, sizeof now) == 0) return;
    print_error("task %s was changed\n", id);
    print_row("before", before);
    print_row("now   ", &now);
    _fail(file, line);
}

void row_make_due(const char *id) {
    int64_t due = LONG_AGO;
    expect_number(sql_run(pool.eye, "UPDATE tp_pending SET due_at = %" PRId64 " WHERE id = '%s'", due, id),
                  1);
}

int64_t rows_in(const char *in, const char *handler) {
    return sql_number(pool.eye, "SELECT COUNT(*) FROM tp_%s WHERE handler = '%s'", in, handler);
}

int64_t effects_of(const char *id) {
    return sql_number(pool.eye, "SELECT COUNT(*) FROM tp_fx WHERE task_id = '%s'", id);
}

void effect(tp_conn *conn, const char *id) {
    sql_run(conn, "INSERT INTO tp_fx (task_id, note) VALUES ('%s', '%s')", id, pool.handler);
}

static void show_finding(const tp_finding *finding, void *arg) {
    (void)arg;
    if (!finding->ok) print_error("check %s: %s\n", finding->name, finding->text);
}

void expect_sound_pools(void) {
    int bad = -1;
    must(tp_check(pool.eye, show_finding, NULL, &bad));
    expect_number(bad, 0);
}
