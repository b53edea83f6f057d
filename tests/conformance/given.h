/* What a test is given: tasks and requests with some fields set, claims, sessions. All of it is taken back
 * when the test ends, however it ends. For the main thread only, as the checks. */
#ifndef TESTS_CONFORMANCE_GIVEN_H
#define TESTS_CONFORMANCE_GIVEN_H

#include "support/child.h"
#include "support/session.h"
#include "support/tasks.h"

#define LENGTH(array) (sizeof(array) / sizeof(array)[0])

/* Calls take_back(what) when the test has ended; the latest first. */
void at_end(void (*take_back)(void *), void *what);
/* All that; the suite calls it after each test. */
void given_back(void);

/* Without tasks, history, keys, schedules, pauses, workers and effects. The suite calls it before each test.
 */
void empty_pool(void);
/* count_of("tp_history WHERE task_id = '%s'", id) rows. */
#define count_of(...) sql_number(pool.eye, "SELECT COUNT(*) FROM " __VA_ARGS__)
/* text_of("reason FROM tp_failed WHERE id = '%s'", id): of the first row, until the next call. */
#define text_of(...) first_text("SELECT " __VA_ARGS__)
const char *first_text(const char *format, ...) SQL_FORMAT(1);
int64_t events_of(const char *id, const char *event);

/* Zeroed. */
void *memory(size_t count, size_t size);
/* A further session like pool.a. */
tp_conn *new_session(void);
/* A further session whose waits for locks end after a second at most. */
tp_conn *guest_session(void);

/* A lent connection, closed at the end. */
struct loan lent(SQLULEN autocommit);
/* Starts the call and comes back when it waits for a lock, or has ended. */
void start_blocked(struct aside *aside, tp_conn *conn, tp_status (*call)(tp_conn *, void *), void *arg);
/* For that: arg is the claimed task, and the new task. */
tp_status complete_call(tp_conn *conn, void *task);
tp_status enqueue_call(tp_conn *conn, void *task);

/* The number that the child says. */
int64_t child_number(struct child *child);

/* ---- Tasks ------------------------------------------------------------------------------------------- */

/* A policy that gives up at the first failure. */
extern const tp_retry never;

/* task_with(.priority = 3): as task_new("x") but for these fields. */
#define task_with(...) given_task((tp_new_task){.size = sizeof(tp_new_task), __VA_ARGS__})
tp_new_task given_task(tp_new_task task);
/* The same, put into the pool. */
#define enqueue(conn, ...) enqueue_task((conn), task_with(__VA_ARGS__), __FILE__, __LINE__)
tp_new_task enqueue_task(tp_conn *conn, tp_new_task task, const char *file, int line);
/* As task_put("x"); gives its id. */
const char *put_one(void);
/* Each as task_new("x"). */
void fill(tp_new_task *tasks, size_t count);

/* A row as plain SQL puts it in. What is left out: this test's handler, pending, and times long ago. */
struct raw_row {
    const char *in, *id; /* in: the pool */
    const char *handler, *biz_key, *dedup_key, *state, *reason, *owner;
    int shard, failures;
    int max_failures; /* 0: none */
    int64_t due_at, created_at, settled_at;
};
#define put_row(conn, ...) insert_row((conn), &(struct raw_row){__VA_ARGS__})
void insert_row(tp_conn *conn, const struct raw_row *row);

/* ---- Claims ------------------------------------------------------------------------------------------ */

/* request_with(.limit = 5, .retry = &never): this test's handler and plan but for these fields. */
#define request_with(...) given_request((tp_claim_request){.size = sizeof(tp_claim_request), __VA_ARGS__})
tp_claim_request given_request(tp_claim_request request);

/* These stand for the functions of support/tasks.h, whose callers free the batches. */

/* Claims exactly so many. */
#define claim(conn, count) check_claim((conn), (count), (count), __FILE__, __LINE__)
/* Claims one. */
#define claim_one(conn) tp_batch_task(claim((conn), 1), 0)
/* Claims at least one and at most so many. */
#define claim_up_to(conn, limit) check_claim((conn), 1, (limit), __FILE__, __LINE__)
tp_batch *check_claim(tp_conn *conn, size_t least, size_t most, const char *file, int line);
/* Claims something. */
#define claim_by(conn, request) check_claim_by((conn), (request), __FILE__, __LINE__)
tp_batch *check_claim_by(tp_conn *conn, tp_claim_request *request, const char *file, int line);
/* claim_with(pool.a, .limit = 5): claims something by such a request. */
#define claim_with(conn, ...) check_claim_with((conn), request_with(__VA_ARGS__), __FILE__, __LINE__)
tp_batch *check_claim_with(tp_conn *conn, tp_claim_request request, const char *file, int line);
/* Claims one, which must be this. */
#define claim_this(conn, id) check_claim_this((conn), (id), __FILE__, __LINE__)
const tp_task *check_claim_this(tp_conn *conn, const char *id, const char *file, int line);
/* Puts a task and claims it. */
#define put_and_claim(conn) check_put_and_claim((conn), __FILE__, __LINE__)
const tp_task *check_put_and_claim(tp_conn *conn, const char *file, int line);
/* All its tasks. */
void tasks_of(const tp_batch *batch, const tp_task **tasks);
/* What tp_claim answers; batch receives what it gave, or NULL. */
tp_status claim_into(tp_conn *conn, tp_claim_request *request, tp_batch **batch);
tp_status try_claim(tp_conn *conn, tp_claim_request *request);
#define try_claim_with(conn, ...) try_request((conn), request_with(__VA_ARGS__))
tp_status try_request(tp_conn *conn, tp_claim_request request);
/* A session has claimed the task, its lease has lapsed. */
void claim_and_lapse(tp_conn *conn, const char *id);
#define expect_count(batch, count) expect_number(tp_batch_count(batch), (count))

/* ---- Others ------------------------------------------------------------------------------------------ */

/* selection_with(.pool = "failed"): this test's tasks, by an operator, and what these fields say. */
#define selection_with(...)                                                                                  \
    ((tp_selection){.size = sizeof(tp_selection), .handler = pool.handler, .who = "tester@desk", __VA_ARGS__})
/* This test's handler each hour. */
tp_schedule hourly(const char *name, const char *biz_key);
/* with(good, rule, "never", expect(TP_MISUSE, tp_schedule_add(pool.a, &given))): the check on a copy of good,
 * named given, in which one field is another. */
#define with(good, field, value, check)                                                                      \
    do {                                                                                                     \
        __typeof__(good) given = (good);                                                                     \
        given.field = (value);                                                                               \
        check;                                                                                               \
    } while (0)

/* ---- Settles ----------------------------------------------------------------------------------------- */

/* A transaction with the effect of a task and its completion, still open. */
#define begin_and_pay(conn, task)                                                                            \
    do {                                                                                                     \
        must(tp_begin(conn));                                                                                \
        effect((conn), (task)->id);                                                                          \
        must(tp_complete((conn), (task)));                                                                   \
    } while (0)
/* In a transaction with an effect the call answers this, and nothing of the transaction is stored. */
#define expect_dooms(conn, id, status, call)                                                                 \
    do {                                                                                                     \
        must(tp_begin(conn));                                                                                \
        effect((conn), (id));                                                                                \
        expect((status), (call));                                                                            \
        expect(TP_CONFLICT, tp_commit(conn));                                                                \
        expect_number(effects_of(id), 0);                                                                    \
    } while (0)

/* ---- Looks ------------------------------------------------------------------------------------------- */

/* As tp_show and tp_list give it. */
#define task_shown(conn, id) check_shown((conn), (id), __FILE__, __LINE__)
const tp_task *check_shown(tp_conn *conn, const char *id, const char *file, int line);
#define tasks_listed(conn, request) check_listed((conn), (request), __FILE__, __LINE__)
tp_batch *check_listed(tp_conn *conn, const tp_list_request *request, const char *file, int line);
tp_status try_show(tp_conn *conn, const char *id);
tp_status list_into(tp_conn *conn, const tp_list_request *request, tp_batch **batch);
tp_status try_list(tp_conn *conn, const tp_list_request *request);

#endif
