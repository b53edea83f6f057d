/* Tasks, requests, claims and sessions for tests, taken back when the test ends. See given.h. */
#include "conformance/given.h"
#include "ops/pause.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Taking back ------------------------------------------------------------------------------------- */

struct given {
    void (*take_back)(void *what);
    void *what;
    struct given *earlier;
};
static struct given *latest;

void at_end(void (*take_back)(void *), void *what) {
    struct given *given = malloc(sizeof *given);
    assert_non_null(given);
    *given = (struct given){take_back, what, latest};
    latest = given;
}

void given_back(void) {
    while (latest) {
        struct given *given = latest;
        latest = given->earlier;
        given->take_back(given->what);
        free(given);
    }
}

void empty_pool(void) {
    /* What one test cancelled costs the next no statement. */
    tpi_pause_hint(false);
    tpi_pause_forget(pool.a);
    tpi_pause_forget(pool.b);
    static const char *const tables[] = {
        "pending", "finished",    "failed",    "history", "once",       "schedule", "pause", "worker", "fx",
        "request", "request_row", "gate_task", "group",   "group_task", "progress", "step",  "cancel"};
    for (size_t i = 0; i < LENGTH(tables); i++)
        sql_run(pool.eye, "DELETE FROM tp_%s", tables[i]);
    sql_run(pool.eye, "DELETE FROM tp_gate WHERE name <> '='");
    sql_run(pool.eye, "UPDATE tp_gate SET width = 1, on_failure = 'block', tokens = 0, period_ms = 0 WHERE "
                      "on_failure <> 'block' "
                      "OR width <> 1 OR tokens <> 0");
    sql_run(pool.eye, "DELETE FROM tp_meta WHERE name = 'four_eyes'");
}

const char *first_text(const char *format, ...) {
    static struct sql_row row;
    char text[1000];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (!sql_row(pool.eye, &row, "%s", text)) fail_msg("no row: %s", text);
    return row.cell[0];
}

int64_t events_of(const char *id, const char *event) {
    return count_of("tp_history WHERE task_id = '%s' AND event = '%s'", id, event);
}

void *memory(size_t count, size_t size) {
    void *memory = calloc(count, size);
    assert_non_null(memory);
    at_end(free, memory);
    return memory;
}

static void close_session(void *conn) {
    tp_conn_close(conn);
}

tp_conn *new_session(void) {
    tp_conn *conn = NULL;
    must(tp_conn_open(pool.env, &conn));
    at_end(close_session, conn);
    return conn;
}

static void close_guest(void *guest) {
    pool_guest_close(guest);
}

tp_conn *guest_session(void) {
    struct pool_guest *guest = memory(1, sizeof *guest);
    *guest = pool_guest_open();
    at_end(close_guest, guest);
    return guest->conn;
}

static void close_loan(void *loan) {
    loan_close(loan);
}

struct loan lent(SQLULEN autocommit) {
    struct loan *loan = memory(1, sizeof *loan);
    *loan = loan_open(autocommit);
    at_end(close_loan, loan);
    return *loan;
}

void start_blocked(struct aside *aside, tp_conn *conn, tp_status (*call)(tp_conn *, void *), void *arg) {
    long number = session_number(conn);
    aside_start(aside, conn, call, arg);
    if (number)
        session_await_blocked(number, aside);
    else
        session_await_quiet(aside);
}

tp_status complete_call(tp_conn *conn, void *task) {
    return tp_complete(conn, task);
}

tp_status enqueue_call(tp_conn *conn, void *task) {
    return tp_enqueue(conn, task);
}

int64_t child_number(struct child *child) {
    char line[CHILD_LINE] = "";
    child_listen(child, line);
    sure(strncmp(line, "error", 5) != 0, "%s", line);
    return strtoll(line, NULL, 10);
}

/* ---- Tasks ------------------------------------------------------------------------------------------- */

const tp_retry never = {.size = sizeof never};

tp_new_task given_task(tp_new_task task) {
    if (!task.handler) task.handler = pool.handler;
    if (!task.params) task.params = "x";
    if (!task.due_at && !task.delay_ms) task.due_at = LONG_AGO;
    return task;
}

tp_new_task enqueue_task(tp_conn *conn, tp_new_task task, const char *file, int line) {
    check_status(TP_OK, tp_enqueue(conn, &task), "tp_enqueue", file, line);
    return task;
}

const char *put_one(void) {
    char *id = memory(1, ID);
    task_put("x", id);
    return id;
}

void fill(tp_new_task *tasks, size_t count) {
    for (size_t i = 0; i < count; i++)
        tasks[i] = task_new("x");
}

static const char *quoted(const char *text, char out[200]) {
    snprintf(out, 200, text ? "'%s'" : "NULL", text);
    return out;
}

void insert_row(tp_conn *conn, const struct raw_row *row) {
    char biz_key[200], dedup_key[200], reason[200], owner[200], max_failures[20] = "NULL", settled[30] = "";
    const char *in = row->in ? row->in : "pending";
    int64_t created = row->created_at ? row->created_at : LONG_AGO;
    bool moved = strcmp(in, "pending") != 0;
    if (row->max_failures) snprintf(max_failures, sizeof max_failures, "%d", row->max_failures);
    if (moved) snprintf(settled, sizeof settled, ", %" PRId64, row->settled_at ? row->settled_at : LONG_AGO);
    sql_run(conn,
            "INSERT INTO tp_%s (id, handler, biz_key, dedup_key, params, shard, priority, state, failures, "
            "max_failures, reason, owner, due_at, created_at, modified_at%s) VALUES ('%s', '%s', %s, %s, "
            "'x', %d, 0, '%s', %d, %s, %s, %s, %" PRId64 ", %" PRId64 ", %" PRId64 "%s)",
            in, moved ? ", settled_at" : "", row->id, row->handler ? row->handler : pool.handler,
            quoted(row->biz_key, biz_key), quoted(row->dedup_key, dedup_key), row->shard,
            row->state ? row->state : "pending", row->failures, max_failures, quoted(row->reason, reason),
            quoted(row->owner, owner), row->due_at ? row->due_at : LONG_AGO, created, created, settled);
}

tp_schedule hourly(const char *name, const char *biz_key) {
    return (tp_schedule){.size = sizeof(tp_schedule),
                         .name = name,
                         .rule = "every 1h",
                         .handler = pool.handler,
                         .biz_key = biz_key};
}

/* ---- Claims ------------------------------------------------------------------------------------------ */

static void free_batch(void *batch) {
    tp_batch_free(batch);
}

/* What the call answered that was to give the batch; without success it gives none. */
static tp_status keep(tp_batch *batch, tp_status status) {
    if (batch) at_end(free_batch, batch);
    assert_true(status == TP_OK || !batch);
    return status;
}

tp_claim_request given_request(tp_claim_request request) {
    tp_claim_request usual = claim_request(request.limit);
    if (!request.handlers) request.handlers = usual.handlers;
    if (!request.handler_count) request.handler_count = usual.handler_count;
    if (!request.plan) request.plan = usual.plan;
    return request;
}

tp_status claim_into(tp_conn *conn, tp_claim_request *request, tp_batch **batch) {
    *batch = NULL;
    tp_status status = tp_claim(conn, request, batch);
    return keep(*batch, status);
}

tp_status try_claim(tp_conn *conn, tp_claim_request *request) {
    tp_batch *batch;
    return claim_into(conn, request, &batch);
}

tp_batch *check_claim_by(tp_conn *conn, tp_claim_request *request, const char *file, int line) {
    tp_batch *batch;
    check_status(TP_OK, claim_into(conn, request, &batch), "tp_claim", file, line);
    return batch;
}

tp_batch *check_claim_with(tp_conn *conn, tp_claim_request request, const char *file, int line) {
    return check_claim_by(conn, &request, file, line);
}

tp_status try_request(tp_conn *conn, tp_claim_request request) {
    return try_claim(conn, &request);
}

tp_batch *check_claim(tp_conn *conn, size_t least, size_t most, const char *file, int line) {
    tp_claim_request request = claim_request(most);
    tp_batch *batch = check_claim_by(conn, &request, file, line);
    if (tp_batch_count(batch) < least)
        check_number((int64_t)tp_batch_count(batch), (int64_t)least, "tasks claimed", file, line);
    return batch;
}

const tp_task *check_claim_this(tp_conn *conn, const char *id, const char *file, int line) {
    const tp_task *task = tp_batch_task(check_claim(conn, 1, 1, file, line), 0);
    _assert_string_equal(task->id, id, file, line);
    return task;
}

const tp_task *check_put_and_claim(tp_conn *conn, const char *file, int line) {
    char id[ID];
    task_put("x", id);
    return check_claim_this(conn, id, file, line);
}

void tasks_of(const tp_batch *batch, const tp_task **tasks) {
    for (size_t i = 0; i < tp_batch_count(batch); i++)
        tasks[i] = tp_batch_task(batch, i);
}

void claim_and_lapse(tp_conn *conn, const char *id) {
    claim_this(conn, id);
    row_make_due(id);
}

/* ---- Looks ------------------------------------------------------------------------------------------- */

static tp_status show_into(tp_conn *conn, const char *id, tp_batch **batch) {
    *batch = NULL;
    tp_status status = tp_show(conn, id, batch);
    return keep(*batch, status);
}

tp_status try_show(tp_conn *conn, const char *id) {
    tp_batch *batch;
    return show_into(conn, id, &batch);
}

const tp_task *check_shown(tp_conn *conn, const char *id, const char *file, int line) {
    tp_batch *batch;
    check_status(TP_OK, show_into(conn, id, &batch), "tp_show", file, line);
    check_number((int64_t)tp_batch_count(batch), 1, "tasks shown", file, line);
    return tp_batch_task(batch, 0);
}

tp_status list_into(tp_conn *conn, const tp_list_request *request, tp_batch **batch) {
    *batch = NULL;
    tp_status status = tp_list(conn, request, batch);
    return keep(*batch, status);
}

tp_status try_list(tp_conn *conn, const tp_list_request *request) {
    tp_batch *batch;
    return list_into(conn, request, &batch);
}

tp_batch *check_listed(tp_conn *conn, const tp_list_request *request, const char *file, int line) {
    tp_batch *batch;
    check_status(TP_OK, list_into(conn, request, &batch), "tp_list", file, line);
    return batch;
}
