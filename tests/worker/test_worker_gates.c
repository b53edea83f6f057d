/* Order per key and limits under several workers at once: what they see is what handlers run, not what tables
 * say. */
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/child.h"
#include "worker/rig.h"

enum { WIDTH = 2, LIMITED = 24, KEYS = 3, EACH = 8, WORKERS = 3 };

static struct seen {
    atomic_int running, most;            /* of those behind the gate */
    atomic_int in_key[KEYS], next[KEYS]; /* of each key: how many run, and which comes next */
    atomic_int wrong;                    /* how often two of a key ran, or another than the next */
} seen;

static void look_around(void) {
    for (int i = 0; i < 20; i++)
        sched_yield();
}

static void run_limited(void) {
    int now = atomic_fetch_add(&seen.running, 1) + 1, most = atomic_load(&seen.most);
    while (now > most && !atomic_compare_exchange_weak(&seen.most, &most, now))
        ;
    look_around();
    atomic_fetch_sub(&seen.running, 1);
}

static void run_ordered(int key, int number, bool ends) {
    if (atomic_fetch_add(&seen.in_key[key], 1) != 0) atomic_fetch_add(&seen.wrong, 1);
    if (atomic_load(&seen.next[key]) != number) atomic_fetch_add(&seen.wrong, 1);
    look_around();
    if (ends) atomic_store(&seen.next[key], number + 1);
    atomic_fetch_sub(&seen.in_key[key], 1);
}

/* Params: "limited", or "KEY NUMBER". Every fourth fails once. */
static tp_verdict handle(tp_run *run, void *arg) {
    const tp_task *task = tp_run_task(run);
    char *rest = NULL;
    (void)arg;
    if (strcmp(task->params, "limited") == 0) {
        run_limited();
        return TP_RUN_DONE;
    }
    long key = strtol(task->params, &rest, 10), number = strtol(rest, NULL, 10);
    bool fails = number % 4 == 1 && task->failures == 0;
    run_ordered((int)key, (int)number, !fails);
    return fails ? TP_RUN_FAILED : TP_RUN_DONE;
}

static void put_all(void) {
    assert_true(tp_gate_set(pool.a, "bank", WIDTH, TP_GATE_BLOCK, NULL) >= TP_OK);
    memset(&seen, 0, sizeof seen);
    for (int i = 0; i < LIMITED; i++)
        rig_put_one(.params = "limited", .gate = "bank");
    for (int number = 0; number < EACH; number++)
        for (int key = 0; key < KEYS; key++) {
            char params[32], name[64];
            snprintf(params, sizeof params, "%d %d", key, number);
            snprintf(name, sizeof name, "%s %d", pool.handler, key);
            rig_put_one(.params = params, .order_key = name);
        }
}

static void expect_all_done(void) {
    rig_expect(0, LIMITED + KEYS * EACH, 0);
    expect_number(atomic_load(&seen.wrong), 0);
    assert_in_range(atomic_load(&seen.most), 1, WIDTH);
    for (int key = 0; key < KEYS; key++)
        expect_number(atomic_load(&seen.next[key]), EACH);
    expect_number(sql_number(pool.eye, "SELECT COUNT(*) FROM tp_gate_task"), 0);
}

static void work_together(const char *plan) {
    tp_worker *workers[WORKERS];
    put_all();
    for (int i = 0; i < WORKERS; i++)
        workers[i] = rig_start_with(0, handle, .plan = plan);
    rig_await(TP_EVENT_DONE, LIMITED + KEYS * EACH);
    for (int i = 0; i < WORKERS; i++)
        rig_stop(workers[i]);
    expect_all_done();
}

TEST(test_gates__limits_and_order_hold_under_several_workers) {
    work_together(NULL);
}

TEST(test_gates__and_where_tasks_are_held_by_locks) {
    rig_needs_hold();
    work_together("hold");
}

/* ---- Tokens -------------------------------------------------------------------------------------------- */

/* Two in any second, by several workers. What handlers see is the database's clock, so that the times of all
 * processes are one. */
enum { TOKENS = 2, HOLD = 8 };

static struct {
    atomic_int count;
    _Atomic int64_t began[HOLD], ended[HOLD];
} held;

static tp_verdict hold(tp_run *run, void *arg) {
    tp_conn *conn = NULL;
    int64_t now = 0;
    int at = atomic_fetch_add(&held.count, 1);
    (void)arg;
    if (at >= HOLD || tp_run_conn(run, &conn) != TP_OK || tp_now(conn, &now) != TP_OK) return TP_RUN_FAILED;
    atomic_store(&held.began[at], now);
    atomic_store(&held.ended[at], now);
    return TP_RUN_DONE;
}

/* No more than the tokens ran in any second, and what came back was given out in time. */
TEST(test_gates__workers_give_out_tokens_and_exceed_no_period) {
    tp_worker *workers[2];
    tp_gate_options to = {.size = sizeof to, .tokens = TOKENS, .period_ms = TP_GATE_PERIOD_MIN};
    assert_true(tp_gate_set_with(pool.a, "bank", &to, NULL) >= TP_OK);
    memset(&held, 0, sizeof held);
    for (int i = 0; i < HOLD; i++)
        rig_put_one(.gate = "bank");
    for (int i = 0; i < 2; i++)
        workers[i] = rig_start_with(0, hold, .threads = 1);
    rig_await(TP_EVENT_DONE, HOLD);
    for (int i = 0; i < 2; i++)
        rig_stop(workers[i]);
    rig_expect(0, HOLD, 0);
    for (int i = 0; i < HOLD; i++) {
        int others = 0;
        for (int j = 0; j < HOLD; j++)
            others += held.began[j] >= held.began[i] && held.began[j] < held.began[i] + to.period_ms;
        assert_in_range(others, 1, TOKENS);
    }
}

/* ---- A process that dies ------------------------------------------------------------------------------- */

static tp_verdict die(tp_run *run, void *arg) {
    (void)run;
    (void)arg;
    raise(SIGKILL);
    return TP_RUN_DONE;
}

ROLE(dying) {
    tp_worker_options o = {.size = sizeof o, .poll_ms = 20, .drain = 1};
    tp_worker *worker = NULL;
    if (tp_worker_open(pool.env, &o, &worker) != TP_OK) return 2;
    if (tp_worker_handle(worker, pool.handler, die, NULL) != TP_OK) return 2;
    if (tp_worker_start(worker) != TP_OK || tp_worker_join(worker) != TP_OK) return 2;
    tp_worker_close(worker);
    return 0;
}

static void kill_one_worker(void) {
    char line[CHILD_LINE];
    struct child child = child_start("dying", pool.handler, NULL);
    while (child_listen(&child, line))
        print_message("child: %s\n", line);
    expect_number(child_status(&child), -1);
}

TEST(test_gates__a_killed_process_keeps_its_place_until_its_lease_lapses_and_nothing_is_stuck) {
    put_all();
    kill_one_worker();
    expect_number(sql_number(pool.eye, "SELECT let_through FROM tp_gate WHERE name = 'bank'"), WIDTH);
    must(rig_advance(pool.a, RIG_LEASE_OVER_MS));
    rig_run(0, handle);
    expect_all_done();
}

/* A library that knows no gates has ended the first of two. */
TEST(test_gates__a_worker_lets_through_what_others_left) {
    for (int number = 0; number < 2; number++)
        rig_put_one(.params = number ? "0 0" : "first", .order_key = "left");
    memset(&seen, 0, sizeof seen);
    must(sql_run(pool.eye, "DELETE FROM tp_pending WHERE params LIKE 'first'") == 1 ? TP_OK : TP_DB);
    tp_worker *worker = rig_start_with(0, handle, .poll_ms = 20);
    rig_await(TP_EVENT_DONE, 1);
    rig_stop(worker);
    rig_expect(0, 1, 0);
}
