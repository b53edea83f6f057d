/* An owner that does not come back: on_event, on_alert or a retry policy's delay waits at a gate, and what
 * the worker does meanwhile is looked at over a connection of the test's own. */
#include "worker/rig.h"

#include "worker/notify.h"

enum { OTHERS = 3 };

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

/* Until the owner is in the call from which he does not come back. */
#define await_owner() assert_true(gate_wait_arrived(&owner.gate, 1))

static int set_up(void **state) {
    int code = rig_set_up(state);
    block_at(TP_EVENT_COUNT);
    rig_extend_often();
    return code;
}

/* A test that failed leaves its gate closed. */
static int tear_down(void **state) {
    gate_open(&owner.gate);
    return rig_tear_down(state);
}

#define BLOCKED_TEST(name) TEST_BETWEEN(name, set_up, tear_down)

/* True as soon as look answers number; false after minutes. */
static bool await_number(int64_t (*look)(const void *arg), const void *arg, int64_t number) {
    for (int i = 0; i < 12000; i++) {
        if (look(arg) == number) return true;
        rig_pause_10_ms();
    }
    return false;
}

static int64_t settled(const void *arg) {
    (void)arg;
    return rig_count("finished") + rig_count("failed");
}

#define await_settled(count) assert_true(await_number(settled, NULL, (count)))

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
    rig_finish_late(worker);
}

static atomic_bool put_back; /* once */

/* What the first task's parameters ask for; others are done. */
HANDLER(as_told) {
    const char *params = tp_run_task(run)->params;
    atomic_fetch_add(&rig.runs, 1);
    tp_run_reason(run, params);
    if (strcmp(params, "skipped") == 0) return TP_RUN_SKIPPED;
    if (strcmp(params, "lost") == 0) return rig_steal(tp_run_task(run)) ? TP_RUN_DONE : TP_RUN_FAILED;
    if (strcmp(params, "gave-up") == 0) {
        tp_run_no_retry(run);
        return TP_RUN_FAILED;
    }
    if (strcmp(params, "retry") == 0 && tp_run_task(run)->failures == 0) return TP_RUN_FAILED;
    if (strcmp(params, "released") == 0 && !atomic_exchange(&put_back, true)) return TP_RUN_LATER;
    return TP_RUN_DONE;
}

/* Others' tasks come and are settled, and the worker stops, while on_event has not returned from event. */
static void expect_work_goes_on(tp_event event, const char *plan) {
    int before = (int)settled(NULL);
    block_at(event);
    if (event == TP_EVENT_OFFLINE || event == TP_EVENT_ONLINE)
        faults_refuse("claim_lanes", FAULTS_DEAD, 0, 1);
    if (event == TP_EVENT_ERROR) faults_refuse("claim_lanes", FAULTS_PERMANENT, 0, 1);
    rig_put(1, tp_event_name(event));
    tp_worker *worker = rig_start_with(0, as_told, .on_event = block_event, .plan = plan);
    await_owner();
    rig_put(OTHERS, "done");
    await_settled(before + (event != TP_EVENT_LOST) + OTHERS);
    stop_and_finish(worker);
}

BLOCKED_TEST(test_event__that_does_not_return_holds_up_no_task) {
    static const tp_event events[] = {TP_EVENT_CLAIMED, TP_EVENT_DONE,     TP_EVENT_RETRY, TP_EVENT_GAVE_UP,
                                      TP_EVENT_SKIPPED, TP_EVENT_RELEASED, TP_EVENT_LOST,  TP_EVENT_OFFLINE,
                                      TP_EVENT_ONLINE,  TP_EVENT_ERROR};
    atomic_store(&put_back, false);
    for (size_t i = 0; i < COUNT(events); i++) {
        expect_work_goes_on(events[i], NULL);
        faults_clear();
    }
    int count = (int)COUNT(events) * (1 + OTHERS);
    expect_number(settled(NULL), count - 1);
    /* Each once, but for the one that was retried and the one that was released. */
    rig_expect(.runs = count + 2, .claimed = count + 2, .done = count - 3, .lost = 1);
}

BLOCKED_TEST(test_event__that_does_not_return_holds_up_no_task_of_plan_hold) {
    static const tp_event events[] = {TP_EVENT_CLAIMED, TP_EVENT_DONE, TP_EVENT_RETRY};
    int count = (int)COUNT(events) * (1 + OTHERS);
    rig_needs_hold();
    for (size_t i = 0; i < COUNT(events); i++)
        expect_work_goes_on(events[i], "hold");
    expect_number(settled(NULL), count);
    rig_expect(.runs = count + 1);
}

BLOCKED_TEST(test_event__that_does_not_return_lets_leases_be_extended) {
    block_at(TP_EVENT_CLAIMED);
    tp_worker *worker = rig_start_with(1, rig_wait, .on_event = block_event);
    rig_await_arrived(1);
    await_owner();
    expect_lease_extended();
    gate_open(&rig.gate);
    await_settled(1);
    stop_and_finish(worker);
    rig_expect(0, 1, 0, .failures = 0, .runs = 1);
}

BLOCKED_TEST(test_event__that_does_not_return_is_told_later_how_many_it_missed) {
    size_t usual = tpi_notify_most;
    tpi_notify_most = 8192;
    block_at(TP_EVENT_CLAIMED);
    tp_worker *worker = rig_start_with(50, rig_done, .on_event = block_event);
    await_owner();
    await_settled(50);
    gate_open(&owner.gate);
    rig_await(TP_EVENT_ERROR, 1);
    rig_put(1, "x");
    await_settled(51);
    tp_worker_stop(worker);
    must(tp_worker_join(worker));
    uint64_t dropped = rig_info(worker).events_dropped;
    rig_finish(worker);
    tpi_notify_most = usual;
    char words[64];
    int told = rig_told(TP_EVENT_CLAIMED) + rig_told(TP_EVENT_DONE);
    bool once = rig_told(TP_EVENT_ERROR) == 1; /* else what came last found no room either */
    snprintf(words, sizeof words, "%d events could not be delivered", 102 - told);
    rig_expect_told(TP_EVENT_ERROR, once ? words : "events could not be delivered");
    assert_true(told < 102);
    expect_number(dropped, 102 - told);
    rig_expect(0, 51, 0);
}

BLOCKED_TEST(test_event__that_does_not_return_keeps_join_no_longer_than_stop_ms) {
    block_at(TP_EVENT_DONE);
    tp_worker *worker = rig_start_with(5, rig_done, .on_event = block_event, .stop_ms = 300);
    await_owner();
    await_settled(5);
    tp_worker_stop(worker);
    assert_true(await_number(has_ended, worker, 1)); /* but for that */
    expect(TP_TIMEOUT, tp_worker_join(worker));
    expect_text("on_event has not returned");
    expect(TP_TIMEOUT, tp_worker_join(worker));
    finish_late(worker);
    /* What had waited when the time was over was dropped, and is told. */
    rig_expect_told(TP_EVENT_ERROR, "could not be delivered");
    rig_expect(0, 5, 0);
}

ALERT(block_alert) {
    atomic_fetch_add((atomic_int *)arg, 1);
    gate_pass(&owner.gate);
    return 0;
}

HANDLER(give_up_or_wait) {
    if (strcmp(tp_run_task(run)->params, "gave-up") != 0) return rig_wait(run, arg);
    return rig_fail_for_good(run, arg);
}

BLOCKED_TEST(test_alert__that_does_not_return_holds_up_nothing_but_alerts) {
    atomic_int alerts = 0;
    rig_put(2, "gave-up");
    tp_worker *worker = rig_start_with(1, give_up_or_wait, .on_event = block_event, .on_alert = block_alert,
                                       .alert_arg = &alerts, .stop_ms = 300);
    await_owner();
    rig_await_arrived(1);
    expect_lease_extended();
    gate_open(&rig.gate);
    await_settled(3);
    rig_expect(0, 1, 2, .failures = 2);
    tp_worker_stop(worker);
    expect(TP_TIMEOUT, tp_worker_join(worker));
    expect_text("on_alert");
    finish_late(worker);
    /* Past the deadline the other one was left to other workers. */
    expect_number(atomic_load(&alerts), 1);
    expect_number(rig_count_where("history", "alert_at IS NOT NULL"), 1);
}

DELAY(block_delay) {
    gate_pass(&owner.gate);
    return failures == 1 && strcmp(reason, "no money") == 0 ? 1 : -1;
}

HANDLER(fail_once_or_wait) {
    bool fails = strcmp(tp_run_task(run)->params, "retry") == 0 && tp_run_task(run)->failures == 0;
    return fails ? rig_fail(run, arg) : rig_done(run, arg);
}

BLOCKED_TEST(test_delay__that_does_not_return_holds_up_no_other_task) {
    const tp_retry slow = {.size = sizeof(tp_retry), .delay = block_delay};
    rig_put(1, "retry");
    tp_worker *worker = rig_start_with(0, fail_once_or_wait, .on_event = block_event, .retry = &slow);
    await_owner();
    rig_put(OTHERS, "x");
    await_settled(OTHERS);
    expect_lease_extended();
    gate_open(&owner.gate);
    await_settled(1 + OTHERS);
    rig_stop(worker);
    rig_expect(0, 1 + OTHERS, 0, .failures = 1, .runs = 2 + OTHERS);
}

/* A task whose lease lapsed. */
static void put_lapsed(void) {
    rig_put(1, "lapsed");
    expect_number(rig_set_due(1000), 1); /* by every session's clock */
    tp_batch *batch = rig_claim(pool.a, 1);
    expect_number(tp_batch_count(batch), 1);
    tp_batch_free(batch);
    expect_number(rig_set_due(1000), 1);
}

/* arg: the answer. */
DELAY(block_lapsed) {
    bool asked = failures == 1 && task->failures == 1 && strncmp(reason, "lease lapsed", 12) == 0;
    gate_pass(&owner.gate);
    return asked ? *(const int64_t *)arg : -1;
}

/* While the policy is asked, the others come and go, and the lease is extended. */
static void run_beside_a_lapsed_one(const char *plan, int64_t answer) {
    const tp_retry slow = {.size = sizeof(tp_retry), .delay = block_lapsed, .arg = &answer};
    bool again = answer >= 0;
    gate_init(&owner.gate);
    put_lapsed();
    int gave_up = rig_told(TP_EVENT_GAVE_UP), runs = atomic_load(&rig.runs);
    tp_worker *worker = rig_start_with(0, rig_done, .on_event = block_event, .retry = &slow, .plan = plan);
    await_owner();
    rig_put(OTHERS, "x");
    await_settled(OTHERS);
    if (!plan) expect_lease_extended();
    gate_open(&owner.gate);
    await_settled(OTHERS + 1);
    rig_stop(worker);
    rig_expect(0, OTHERS + again, !again, .failures = 1, .runs = runs + OTHERS + again,
               .gave_up = gave_up + !again);
    expect_number(rig_count_where("history", "event = 'lapsed'"), 1);
    expect_number(rig_count_where("history", "event = 'gave-up' AND attempt = 1"), !again);
    sql_run(pool.eye, "DELETE FROM tp_finished");
    sql_run(pool.eye, "DELETE FROM tp_failed");
    sql_run(pool.eye, "DELETE FROM tp_history");
}

BLOCKED_TEST(test_delay__of_a_lapsed_lease_holds_up_no_other_task) {
    run_beside_a_lapsed_one(NULL, 0);
    run_beside_a_lapsed_one(NULL, -1);
}

BLOCKED_TEST(test_delay__of_a_lapsed_lease_holds_up_no_other_task_of_plan_hold) {
    if (!pool_plan_possible("hold") || pool_on_sqlite()) { /* whose one writer any handler is */
        print_message("SKIPPED: plan hold holds up others here\n");
        skip();
    }
    run_beside_a_lapsed_one("hold", 0);
    run_beside_a_lapsed_one("hold", -1);
}
