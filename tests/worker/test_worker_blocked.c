/* An owner that does not come back: on_event, on_alert or a retry policy's delay waits at a gate, and what
 * the worker does meanwhile is looked at over a connection of the test's own. */
#include "worker/rig.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "worker/notify.h"

/* The first extension comes after a third; a busy machine has the rest for it. */
enum { OTHERS = 3, LEASE_MS = 4500 };

/* An on_event that waits at the gate at the first event of a kind. The rest is rig.watch's. */
static struct {
    tp_event at;
    atomic_int met;
    struct gate gate;
} owner;

static void block_event(tp_event event, const tp_task *task, const char *text, void *arg) {
    watch_event(event, task, text, arg);
    if (event == owner.at && atomic_fetch_add(&owner.met, 1) == 0) gate_pass(&owner.gate);
}

static void block_at(tp_event event) {
    owner.at = event;
    atomic_store(&owner.met, 0);
    gate_init(&owner.gate);
}

static int set_up(void **state) {
    block_at(TP_EVENT_COUNT);
    return rig_set_up(state);
}

/* A test that failed leaves its gate closed. */
static int tear_down(void **state) {
    gate_open(&owner.gate);
    return rig_tear_down(state);
}

#define BLOCKED_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

static tp_worker_options blocked(void) {
    tp_worker_options o = rig_undrained();
    o.on_event = block_event;
    return o;
}

/* ---- What is looked at from outside -------------------------------------------------------------------- */

/* True as soon as look answers number; false after minutes. */
static bool await_number(int64_t (*look)(const void *arg), const void *arg, int64_t number) {
    const struct timespec pause = {.tv_nsec = 10000000};
    for (int i = 0; i < 12000; i++) {
        if (look(arg) == number) return true;
        nanosleep(&pause, NULL);
    }
    return false;
}

static int64_t settled(const void *arg) {
    (void)arg;
    return rig_count("finished") + rig_count("failed");
}

static int64_t has_ended(const void *arg) {
    return strcmp(rig_info((tp_worker *)(uintptr_t)arg).state, "ended") == 0;
}

static int64_t lease_end(void) {
    return sql_number(pool.eye,
                      "SELECT MAX(due_at) FROM tp_pending WHERE handler = '%s' AND state = 'handling'",
                      pool.handler);
}

static int64_t is_later(const void *arg) {
    return lease_end() > *(const int64_t *)arg;
}

static void expect_lease_extended(void) {
    int64_t before = lease_end();
    assert_true(await_number(is_later, &before, 1));
}

/* Stops the worker, waits until all its threads but the one that is blocked have ended, and lets that go on.
 */
static void stop_and_finish(tp_worker *worker) {
    tp_worker_stop(worker);
    assert_true(await_number(has_ended, worker, 1));
    gate_open(&owner.gate);
    rig_finish(worker);
    expect_number(rig.watch.early, 0);
}

/* With a stop_ms, which a busy machine may need more than once. */
static void finish_late(tp_worker *worker) {
    gate_open(&owner.gate);
    while (tp_worker_join(worker) == TP_TIMEOUT)
        continue;
    rig_finish(worker);
}

/* ---- on_event ------------------------------------------------------------------------------------------ */

static atomic_bool put_back; /* once */

/* What the first task's parameters ask for; others are done. */
static tp_verdict as_told(tp_run *run, void *arg) {
    const char *params = tp_run_task(run)->params;
    (void)arg;
    atomic_fetch_add(&rig.runs, 1);
    tp_run_reason(run, params);
    if (strcmp(params, "skipped") == 0) return TP_RUN_SKIPPED;
    if (strcmp(params, "lost") == 0) return rig_steal(tp_run_task(run)) ? TP_RUN_DONE : TP_RUN_FAILED;
    if (strcmp(params, "gave-up") == 0) tp_run_no_retry(run);
    if (strcmp(params, "gave-up") == 0) return TP_RUN_FAILED;
    if (strcmp(params, "retry") == 0 && tp_run_task(run)->failures == 0) return TP_RUN_FAILED;
    if (strcmp(params, "released") == 0 && !atomic_exchange(&put_back, true)) return TP_RUN_LATER;
    return TP_RUN_DONE;
}

static void lose_a_claim(void) {
    (void)faults_add((struct faults_aim){
        .statement = "claim_lanes", .fault = TPI_FAULT_NOT_SENT, .kind = FAULTS_DEAD, .times = 1});
}

static void refuse_a_claim(void) {
    (void)faults_add((struct faults_aim){
        .statement = "claim_lanes", .fault = TPI_FAULT_NOT_SENT, .kind = FAULTS_PERMANENT, .times = 1});
}

/* Others' tasks come and are settled, and the worker stops, while on_event has not returned from event. */
static void expect_work_goes_on(tp_event event, const char *plan) {
    tp_worker_options o = blocked();
    o.plan = plan;
    int before = (int)settled(NULL);
    block_at(event);
    if (event == TP_EVENT_OFFLINE || event == TP_EVENT_ONLINE) lose_a_claim();
    if (event == TP_EVENT_ERROR) refuse_a_claim();
    rig_put(1, tp_event_name(event));
    tp_worker *worker = rig_start(&o, as_told);
    assert_true(gate_wait_arrived(&owner.gate, 1));
    rig_put(OTHERS, "done");
    assert_true(await_number(settled, NULL, before + (event != TP_EVENT_LOST) + OTHERS));
    stop_and_finish(worker);
}

static void test_event__that_does_not_return_holds_up_no_task(void **state) {
    (void)state;
    static const tp_event events[] = {TP_EVENT_CLAIMED, TP_EVENT_DONE,     TP_EVENT_RETRY, TP_EVENT_GAVE_UP,
                                      TP_EVENT_SKIPPED, TP_EVENT_RELEASED, TP_EVENT_LOST,  TP_EVENT_OFFLINE,
                                      TP_EVENT_ONLINE,  TP_EVENT_ERROR};
    atomic_store(&put_back, false);
    for (size_t i = 0; i < sizeof events / sizeof events[0]; i++) {
        expect_work_goes_on(events[i], NULL);
        faults_clear();
    }
    int count = (int)(sizeof events / sizeof events[0]) * (1 + OTHERS);
    expect_number(settled(NULL), count - 1);
    /* Each once, but for the one that was retried and the one that was released. */
    expect_number(atomic_load(&rig.runs), count + 2);
    expect_number(rig_told(TP_EVENT_CLAIMED), count + 2);
    expect_number(rig_told(TP_EVENT_DONE), count - 3);
    expect_number(rig_told(TP_EVENT_LOST), 1);
}

static void test_event__that_does_not_return_holds_up_no_task_of_plan_hold(void **state) {
    (void)state;
    static const tp_event events[] = {TP_EVENT_CLAIMED, TP_EVENT_DONE, TP_EVENT_RETRY};
    int count = (int)(sizeof events / sizeof events[0]) * (1 + OTHERS);
    if (!pool_plan_possible("hold")) {
        print_message("SKIPPED: plan hold is not possible here\n");
        skip();
    }
    for (size_t i = 0; i < sizeof events / sizeof events[0]; i++)
        expect_work_goes_on(events[i], "hold");
    expect_number(settled(NULL), count);
    expect_number(atomic_load(&rig.runs), count + 1);
}

static void test_event__that_does_not_return_lets_leases_be_extended(void **state) {
    (void)state;
    tp_worker_options o = blocked();
    o.lease_ms = LEASE_MS;
    block_at(TP_EVENT_CLAIMED);
    rig_put(1, "x");
    tp_worker *worker = rig_start(&o, rig_wait);
    assert_true(gate_wait_arrived(&rig.gate, 1));
    assert_true(gate_wait_arrived(&owner.gate, 1));
    expect_lease_extended();
    gate_open(&rig.gate);
    assert_true(await_number(settled, NULL, 1));
    stop_and_finish(worker);
    expect_number(atomic_load(&rig.runs), 1);
    rig_expect(0, 1, 0);
}

static void test_event__that_does_not_return_is_told_later_how_many_it_missed(void **state) {
    (void)state;
    tp_worker_options o = blocked();
    size_t usual = tpi_notify_most;
    tpi_notify_most = 8192;
    block_at(TP_EVENT_CLAIMED);
    rig_put(50, "x");
    tp_worker *worker = rig_start(&o, rig_done);
    assert_true(gate_wait_arrived(&owner.gate, 1));
    assert_true(await_number(settled, NULL, 50));
    gate_open(&owner.gate);
    assert_true(watch_wait(&rig.watch, TP_EVENT_ERROR, 1));
    rig_put(1, "x");
    assert_true(await_number(settled, NULL, 51));
    tp_worker_stop(worker);
    must(tp_worker_join(worker));
    uint64_t dropped = rig_info(worker).events_dropped;
    rig_finish(worker);
    tpi_notify_most = usual;
    char words[64];
    int told = rig_told(TP_EVENT_CLAIMED) + rig_told(TP_EVENT_DONE);
    bool once = rig_told(TP_EVENT_ERROR) == 1; /* else what came last found no room either */
    snprintf(words, sizeof words, "%d events could not be delivered", 102 - told);
    assert_non_null(strstr(rig.watch.texts[TP_EVENT_ERROR], once ? words : "events could not be delivered"));
    assert_true(told < 102);
    expect_number(dropped, 102 - told);
    rig_expect(0, 51, 0);
}

static void test_event__that_does_not_return_keeps_join_no_longer_than_stop_ms(void **state) {
    (void)state;
    tp_worker_options o = blocked();
    o.stop_ms = 300;
    block_at(TP_EVENT_DONE);
    rig_put(5, "x");
    tp_worker *worker = rig_start(&o, rig_done);
    assert_true(gate_wait_arrived(&owner.gate, 1));
    assert_true(await_number(settled, NULL, 5));
    tp_worker_stop(worker);
    expect(TP_TIMEOUT, tp_worker_join(worker));
    expect_text("on_event has not returned");
    expect(TP_TIMEOUT, tp_worker_join(worker));
    finish_late(worker);
    /* What had waited when the time was over was dropped, and is told. */
    assert_non_null(strstr(rig.watch.texts[TP_EVENT_ERROR], "could not be delivered"));
    rig_expect(0, 5, 0);
}

/* ---- on_alert -------------------------------------------------------------------------------------------
 */

static int block_alert(const tp_task *task, const char *text, void *arg) {
    (void)task;
    (void)text;
    atomic_fetch_add((atomic_int *)arg, 1);
    gate_pass(&owner.gate);
    return 0;
}

static tp_verdict give_up_or_wait(tp_run *run, void *arg) {
    if (strcmp(tp_run_task(run)->params, "gave-up") != 0) return rig_wait(run, arg);
    tp_run_no_retry(run);
    return rig_fail(run, arg);
}

static void test_alert__that_does_not_return_holds_up_nothing_but_alerts(void **state) {
    (void)state;
    atomic_int alerts = 0;
    tp_worker_options o = blocked();
    o.on_alert = block_alert;
    o.alert_arg = &alerts;
    o.lease_ms = LEASE_MS;
    o.stop_ms = 300;
    rig_put(2, "gave-up");
    rig_put(1, "x");
    tp_worker *worker = rig_start(&o, give_up_or_wait);
    assert_true(gate_wait_arrived(&owner.gate, 1));
    assert_true(gate_wait_arrived(&rig.gate, 1));
    expect_lease_extended();
    gate_open(&rig.gate);
    assert_true(watch_wait(&rig.watch, TP_EVENT_DONE, 1));
    rig_expect(0, 1, 2);
    tp_worker_stop(worker);
    expect(TP_TIMEOUT, tp_worker_join(worker));
    expect_text("on_alert");
    finish_late(worker);
    /* Past the deadline the other one was left to other workers. */
    expect_number(atomic_load(&alerts), 1);
    expect_number(sql_number(pool.eye,
                             "SELECT COUNT(*) FROM tp_history WHERE handler = '%s' AND alert_at IS NOT NULL",
                             pool.handler),
                  1);
}

/* ---- A retry policy's delay -----------------------------------------------------------------------------
 */

static int64_t block_delay(const tp_task *task, int32_t failures, const char *reason, void *arg) {
    (void)task;
    (void)arg;
    gate_pass(&owner.gate);
    return failures == 1 && strcmp(reason, "no money") == 0 ? 1 : -1;
}

static tp_verdict fail_once_or_wait(tp_run *run, void *arg) {
    bool fails = strcmp(tp_run_task(run)->params, "retry") == 0 && tp_run_task(run)->failures == 0;
    return fails ? rig_fail(run, arg) : rig_done(run, arg);
}

static void test_delay__that_does_not_return_holds_up_no_other_task(void **state) {
    (void)state;
    const tp_retry slow = {.size = sizeof(tp_retry), .delay = block_delay};
    tp_worker_options o = blocked();
    o.retry = &slow;
    o.lease_ms = LEASE_MS;
    rig_put(1, "retry");
    tp_worker *worker = rig_start(&o, fail_once_or_wait);
    assert_true(gate_wait_arrived(&owner.gate, 1));
    rig_put(OTHERS, "x");
    assert_true(await_number(settled, NULL, OTHERS));
    expect_lease_extended();
    gate_open(&owner.gate);
    assert_true(await_number(settled, NULL, 1 + OTHERS));
    tp_worker_stop(worker);
    rig_finish(worker);
    rig_expect(0, 1 + OTHERS, 0);
    expect_number(rig_failures("finished"), 1);
    expect_number(atomic_load(&rig.runs), 2 + OTHERS);
}

/* A task whose lease lapsed. */
static void put_lapsed(void) {
    const char *handlers[] = {pool.handler};
    tp_claim_request request = TP_CLAIM_INIT;
    tp_batch *batch = NULL;
    rig_put(1, "lapsed");
    request.handlers = handlers;
    request.handler_count = 1;
    must(tp_claim(pool.a, &request, &batch));
    expect_number(tp_batch_count(batch), 1);
    tp_batch_free(batch);
    expect_number(sql_run(pool.eye, "UPDATE tp_pending SET due_at = 1000 WHERE handler = '%s'", pool.handler),
                  1);
}

/* arg: the answer. */
static int64_t block_lapsed(const tp_task *task, int32_t failures, const char *reason, void *arg) {
    bool asked = failures == 1 && task->failures == 1 && strncmp(reason, "lease lapsed", 12) == 0;
    gate_pass(&owner.gate);
    return asked ? *(const int64_t *)arg : -1;
}

/* While the policy is asked, the others come and go, and the lease is extended. */
static void run_beside_a_lapsed_one(const char *plan, int64_t answer) {
    const tp_retry slow = {.size = sizeof(tp_retry), .delay = block_lapsed, .arg = &answer};
    tp_worker_options o = blocked();
    bool again = answer >= 0;
    o.retry = &slow;
    o.lease_ms = LEASE_MS;
    o.plan = plan;
    gate_init(&owner.gate);
    put_lapsed();
    int gave_up = rig_told(TP_EVENT_GAVE_UP), runs = atomic_load(&rig.runs);
    tp_worker *worker = rig_start(&o, rig_done);
    assert_true(gate_wait_arrived(&owner.gate, 1));
    rig_put(OTHERS, "x");
    assert_true(await_number(settled, NULL, OTHERS));
    if (!plan) expect_lease_extended();
    gate_open(&owner.gate);
    assert_true(await_number(settled, NULL, OTHERS + 1));
    tp_worker_stop(worker);
    rig_finish(worker);
    rig_expect(0, OTHERS + again, !again);
    expect_number(rig_failures(again ? "finished" : "failed"), 1);
    expect_number(atomic_load(&rig.runs), runs + OTHERS + again);
    expect_number(rig_told(TP_EVENT_GAVE_UP), gave_up + !again);
    expect_number(sql_number(pool.eye,
                             "SELECT COUNT(*) FROM tp_history WHERE handler = '%s' AND event = 'lapsed'",
                             pool.handler),
                  1);
    expect_number(sql_number(pool.eye,
                             "SELECT COUNT(*) FROM tp_history WHERE handler = '%s' AND event = 'gave-up' AND "
                             "attempt = 1",
                             pool.handler),
                  !again);
    sql_run(pool.eye, "DELETE FROM tp_finished");
    sql_run(pool.eye, "DELETE FROM tp_failed");
    sql_run(pool.eye, "DELETE FROM tp_history");
}

static void test_delay__of_a_lapsed_lease_holds_up_no_other_task(void **state) {
    (void)state;
    run_beside_a_lapsed_one(NULL, 0);
    run_beside_a_lapsed_one(NULL, -1);
}

static void test_delay__of_a_lapsed_lease_holds_up_no_other_task_of_plan_hold(void **state) {
    (void)state;
    if (!pool_plan_possible("hold") || pool_on_sqlite()) { /* whose one writer any handler is */
        print_message("SKIPPED: plan hold holds up others here\n");
        skip();
    }
    run_beside_a_lapsed_one("hold", 0);
    run_beside_a_lapsed_one("hold", -1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        BLOCKED_TEST(test_event__that_does_not_return_holds_up_no_task),
        BLOCKED_TEST(test_event__that_does_not_return_holds_up_no_task_of_plan_hold),
        BLOCKED_TEST(test_event__that_does_not_return_lets_leases_be_extended),
        BLOCKED_TEST(test_event__that_does_not_return_is_told_later_how_many_it_missed),
        BLOCKED_TEST(test_event__that_does_not_return_keeps_join_no_longer_than_stop_ms),
        BLOCKED_TEST(test_alert__that_does_not_return_holds_up_nothing_but_alerts),
        BLOCKED_TEST(test_delay__that_does_not_return_holds_up_no_other_task),
        BLOCKED_TEST(test_delay__of_a_lapsed_lease_holds_up_no_other_task),
        BLOCKED_TEST(test_delay__of_a_lapsed_lease_holds_up_no_other_task_of_plan_hold),
    };
    rig_begin();
    int failed = cmocka_run_group_tests_name("worker: an owner that does not return", tests, NULL, NULL);
    rig_end();
    return failed;
}
