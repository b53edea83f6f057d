/* Workers with plan hold, and what outlives a worker: alerts, the list of workers, tasks that kill their
 * process. A child process is this program again: --child ROLE HANDLER. */
#include "ops/for_workers.h"
#include "worker/rig.h"

#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "ops/conn.h"
#include "support/child.h"
#include "worker/queue.h"
#include "worker/worker.h"

static tp_worker_options holding(void) {
    tp_worker_options o = rig_options();
    o.plan = "hold";
    return o;
}

static void run_holding(tp_handler_fn fn) {
    tp_worker_options o = holding();
    rig_finish(rig_start(&o, fn));
}

static void needs_hold(void) {
    if (pool_plan_possible("hold")) return;
    print_message("SKIPPED: plan hold is not possible here\n");
    skip();
}

/* ---- Plan hold ----------------------------------------------------------------------------------------- */

static void test_hold__effect_and_settle_commit_together(void **state) {
    (void)state;
    needs_hold();
    rig_put(30, "x");
    run_holding(rig_pay);
    rig_expect_paid(30);
    expect_number(rig_told(TP_EVENT_DONE), 30);
    expect_number(rig_told(TP_EVENT_ERROR), 0);
}

/* How many commits the tasks took at best. Groups grow while handlers are quick, which on a busy machine they
 * are not each time. */
static int fewest_commits(tp_worker_options o, int tasks, int enough, struct faults_aim aim) {
    enum { TRIES = 20 };
    size_t commits = faults_add(aim);
    int before = 0, fewest = INT_MAX;
    for (int tries = 1; tries <= TRIES && fewest > enough; tries++) {
        rig_put(tasks, "x");
        rig_finish(rig_start(&o, rig_done));
        rig_expect(0, tasks * tries, 0);
        expect_number(rig_failures("finished"), 0);
        /* A deadlock between two groups, which some databases have, costs one of them a second run. */
        if (atomic_load(&rig.runs) > 2 * tasks * tries) fail_msg("%d runs", atomic_load(&rig.runs));
        int took = faults_seen(commits) - before;
        before += took;
        if (took < fewest) fewest = took;
    }
    return fewest;
}

static void test_hold__handlers_that_never_ask_are_settled_in_groups(void **state) {
    (void)state;
    needs_hold();
    tp_worker_options o = holding();
    o.threads = 2;
    int commits = fewest_commits(o, 100, 60, (struct faults_aim){.statement = "commit"});
    if (commits > 60) fail_msg("%d transactions for 100 tasks", commits);
}

/* Longer than the handlers of a group may take. */
static void pass_time(void) {
    for (int64_t end = tpi_clock_mono_ms() + 70; tpi_clock_mono_ms() < end;)
        sched_yield();
}

static tp_verdict take_long(tp_run *run, void *arg) {
    (void)run;
    (void)arg;
    pass_time();
    return TP_RUN_DONE;
}

static void commit_long(struct tpi_link *link, void *arg) {
    (void)link;
    (void)arg;
    pass_time();
}

static void test_hold__groups_grow_though_the_database_is_slow(void **state) {
    (void)state;
    needs_hold();
    tp_worker_options o = holding();
    o.threads = 1;
    struct faults_aim slow = {.statement = "commit", .times = INT_MAX, .meet = commit_long};
    int commits = fewest_commits(o, 40, 20, slow);
    if (commits > 20) fail_msg("%d transactions for 40 tasks", commits);
}

static void test_hold__a_slow_handlers_task_keeps_no_others_locked(void **state) {
    (void)state;
    needs_hold();
    tp_worker_options o = holding();
    o.threads = 1;
    rig_put(4, "x");
    size_t groups = faults_add((struct faults_aim){.statement = "hold_finish_many"});
    rig_finish(rig_start(&o, take_long));
    rig_expect(0, 4, 0);
    expect_number(faults_seen(groups), 0);
}

/* ---- Clusters in which every node takes writes --------------------------------------------------------- */

static void needs_question(void) {
    if (pool.a->store.link.driver->may_have_writers) return;
    print_message("SKIPPED: no server here is one of several that take writes\n");
    skip();
}

static void hold_nothing(tp_conn *conn, tp_status expected) {
    tp_claim_request request = TP_CLAIM_INIT;
    const char *handlers[] = {pool.handler};
    tp_batch *batch = NULL;
    request.handlers = handlers;
    request.handler_count = 1;
    request.plan = "hold";
    must(tp_begin(conn));
    expect_number(tp_claim(conn, &request, &batch), expected);
    must(tp_rollback(conn));
}

static void test_hold__asks_each_session_once_whether_every_node_takes_writes(void **state) {
    (void)state;
    tp_conn *conn = NULL;
    needs_question();
    size_t asked = faults_add((struct faults_aim){.statement = "cluster"});
    must(tp_conn_open(pool.env, &conn));
    hold_nothing(conn, TP_NONE);
    hold_nothing(conn, TP_NONE);
    expect_number(faults_seen(asked), 1);
    must(tp_conn_reopen(conn));
    hold_nothing(conn, TP_NONE);
    expect_number(faults_seen(asked), 2);
    tp_conn_close(conn);
}

static void test_hold__a_question_that_fails_is_told(void **state) {
    (void)state;
    tp_conn *conn = NULL;
    tp_worker_options o = holding();
    needs_question();
    rig_put(1, "x");
    (void)faults_add((struct faults_aim){
        .statement = "cluster", .fault = TPI_FAULT_NOT_SENT, .kind = FAULTS_PERMANENT, .times = 2});
    tp_worker *worker = rig_open(&o, rig_done, NULL);
    expect_number(tp_worker_start(worker), TP_DB);
    must(tp_conn_open(pool.env, &conn));
    hold_nothing(conn, TP_DB);
    tp_conn_close(conn);
    must(tp_worker_start(worker));
    rig_finish(worker);
    rig_expect(0, 1, 0);
}

static void stop_worker(struct tpi_link *link, void *arg) {
    tp_worker **worker = arg;
    (void)link;
    tp_worker_stop(*worker);
}

static size_t stop_in(const char *statement, tp_worker **worker) {
    return faults_add(
        (struct faults_aim){.statement = statement, .times = 1, .meet = stop_worker, .arg = worker});
}

static void test_hold__a_stop_during_the_claim_starts_no_handler(void **state) {
    (void)state;
    needs_hold();
    tp_worker_options o = holding();
    tp_worker *worker = rig_open(&o, rig_done, NULL);
    rig_put(3, "x");
    size_t aims[] = {stop_in("hold_take", &worker), stop_in("hold_take_one", &worker),
                     stop_in("claim_pick", &worker)};
    must(tp_worker_start(worker));
    rig_finish(worker);
    if (faults_hits(aims[0]) + faults_hits(aims[1]) + faults_hits(aims[2]) < 1) fail_msg("no claim was met");
    expect_number(atomic_load(&rig.runs), 0);
    expect_number(rig_count_state("pending", "pending"), 3);
}

/* Calls that are under way at the same time. */
struct meeting {
    atomic_int there;
    atomic_bool met;
};

static void wait_for_another(struct tpi_link *link, void *arg) {
    struct meeting *meeting = arg;
    (void)link;
    if (atomic_fetch_add(&meeting->there, 1) == 1) atomic_store(&meeting->met, true);
    for (int64_t end = tpi_clock_mono_ms() + 60000; !atomic_load(&meeting->met) && tpi_clock_mono_ms() < end;)
        sched_yield();
    atomic_fetch_sub(&meeting->there, 1);
}

static void test_hold__no_thread_waits_for_anothers_claim_while_tasks_come(void **state) {
    static const char *const claims[] = {"hold_take_one", "hold_take", "claim_pick"};
    struct meeting meeting = {0};
    tp_worker_options o = holding();
    (void)state;
    needs_hold();
    if (pool_on_sqlite()) skip(); /* where one transaction writes at a time */
    o.threads = 2;
    o.settle_count = 1;
    rig_put(6, "x");
    tp_worker *worker = rig_start(&o, rig_wait);
    assert_true(gate_wait_arrived(&rig.gate, 2));
    for (size_t i = 0; i < sizeof claims / sizeof claims[0]; i++)
        faults_add((struct faults_aim){
            .statement = claims[i], .times = 2, .meet = wait_for_another, .arg = &meeting});
    gate_open(&rig.gate);
    rig_finish(worker);
    rig_expect(0, 6, 0);
    assert_true(atomic_load(&meeting.met));
}

static tp_verdict pay_at_the_third_try(tp_run *run, void *arg) {
    (void)arg;
    tp_verdict verdict = rig_effect(run, tp_run_task(run)->failures < 2 ? TP_RUN_FAILED : TP_RUN_DONE);
    if (verdict == TP_RUN_FAILED) tp_run_reason(run, "bank closed");
    return verdict;
}

static void test_hold__a_failure_takes_the_effect_back_and_is_counted(void **state) {
    (void)state;
    needs_hold();
    rig_put(3, "x");
    run_holding(pay_at_the_third_try);
    rig_expect(0, 3, 0);
    expect_number(rig_effects(), 3);
    expect_number(rig_failures("finished"), 6);
    expect_number(rig_told(TP_EVENT_RETRY), 6);
    assert_string_equal(rig.watch.texts[TP_EVENT_RETRY], "bank closed");
}

static tp_verdict fail_now_and_then(tp_run *run, void *arg) {
    (void)arg;
    if (tp_run_task(run)->failures == 0 && atomic_fetch_add(&rig.runs, 1) % 3 == 1) return TP_RUN_FAILED;
    return TP_RUN_DONE;
}

static void test_hold__a_failure_in_a_group_leaves_the_others_done(void **state) {
    (void)state;
    needs_hold();
    rig_put(60, "x");
    run_holding(fail_now_and_then);
    rig_expect(0, 60, 0);
    expect_number(rig_failures("finished"), rig_told(TP_EVENT_RETRY));
    if (rig_told(TP_EVENT_RETRY) < 10) fail_msg("hardly anything failed");
}

static void test_hold__pays_once_whichever_call_of_it_is_lost(void **state) {
    enum { CALLS = 30 };
    (void)state;
    needs_hold();
    rig_put(2 * CALLS, "x");
    size_t passes = faults_add((struct faults_aim){.statement = "commit", .passes = CALLS});
    run_holding(rig_pay);
    rig_expect_paid(2 * CALLS);
    if (faults_hits(passes) < 20) fail_msg("only %d calls were lost", faults_hits(passes));
}

static void test_hold__steps_too(void **state) {
    (void)state;
    needs_hold();
    tp_worker_options o = holding();
    size_t handled = 0;
    o.drain = 0;
    rig_put(3, "x");
    tp_worker *worker = rig_open(&o, rig_pay, NULL);
    must(tp_worker_step(worker, &handled));
    expect_number(handled, 3);
    expect(TP_NONE, tp_worker_step(worker, &handled));
    rig_expect_paid(3);
    tp_worker_stop(worker);
    rig_finish(worker);
}

/* A worker that held died lately, so this one claims by leases; when that is long enough ago it holds again.
 */
static void test_hold__tasks_claimed_by_leases_are_run_when_the_worker_holds_again(void **state) {
    (void)state;
    needs_hold();
    tp_worker_options o = holding();
    tp_worker_row dead = {.handlers = pool.handler, .plan = "hold"};
    snprintf(dead.id, sizeof dead.id, "018bcfe5-6800-7000-8002-%012d", (int)getpid());
    must(tpi_worker_heartbeat(pool.a, &dead));
    must(tpi_worker_died(pool.a, dead.id));
    o.drain = 0;
    o.threads = 1;
    rig_put(5, "x");
    tp_worker *worker = rig_start(&o, rig_wait);
    assert_true(watch_wait(&rig.watch, TP_EVENT_CLAIMED, 5));
    assert_true(gate_wait_arrived(&rig.gate, 1));
    expect_number(sql_run(pool.eye, "DELETE FROM tp_worker WHERE id = '%s'", dead.id), 1);
    tpi_queue_hold(&worker->queue, true);
    gate_open(&rig.gate);
    assert_true(watch_wait(&rig.watch, TP_EVENT_DONE, 5));
    tp_worker_stop(worker);
    rig_finish(worker);
    rig_expect(0, 5, 0);
}

/* ---- Tasks that kill their process --------------------------------------------------------------------- */

static tp_verdict kill_the_process(tp_run *run, void *arg) {
    (void)run;
    (void)arg;
    kill(getpid(), SIGKILL);
    return TP_RUN_DONE;
}

static int child_worker(const char *plan, tp_handler_fn fn, tp_alert_fn on_alert) {
    tp_worker_options o = TP_WORKER_INIT;
    tp_worker *worker = NULL;
    const tp_retry none = {.size = sizeof(tp_retry), .delays_ms = NULL, .count = 0};
    o.plan = plan;
    o.poll_ms = 20;
    o.drain = 1;
    o.on_alert = on_alert;
    o.retry = on_alert ? &none : NULL;
    if (tp_worker_open(pool.env, &o, &worker) != TP_OK) return 2;
    if (tp_worker_handle(worker, pool.handler, fn, NULL) != TP_OK) return 2;
    if (tp_worker_start(worker) != TP_OK || tp_worker_join(worker) != TP_OK) return 2;
    tp_worker_close(worker);
    return 0;
}

enum { KILLED = -1 };

/* How it ended: KILLED, or its exit code. */
static int run_child(const char *role) {
    char line[CHILD_LINE];
    struct child child = child_start(role, pool.handler, NULL);
    while (child_listen(&child, line))
        print_message("child: %s\n", line);
    return child_status(&child);
}

static void test_poison__a_task_that_kills_its_process_ends_in_the_failed_pool(void **state) {
    (void)state;
    needs_hold();
    tp_new_task task = TP_NEW_TASK_INIT;
    task.handler = pool.handler;
    task.max_failures = 3;
    must(tp_enqueue(pool.a, &task));
    int deaths = 0;
    for (; deaths < 10 && rig_count("failed") == 0; deaths++) {
        int code = run_child("poisoned");
        if (code == 0) break;
        expect_number(code, KILLED);
        must(tp_test_advance(pool.a, 61000)); /* the lease, when there was one */
    }
    rig_expect(0, 0, 1);
    expect_number(deaths, 4); /* the first was held and left no trace */
    expect_number(rig_failures("failed"), 3);
}

/* ---- The list of workers ------------------------------------------------------------------------------- */

struct seen {
    int running, stopping, ended, died;
    int64_t done;
};

static void count_presence(const tp_worker_row *presence, void *arg) {
    struct seen *seen = arg;
    if (strcmp(presence->handlers, pool.handler) != 0) return;
    seen->running += strcmp(presence->state, "running") == 0;
    seen->stopping += strcmp(presence->state, "stopping") == 0;
    seen->ended += strcmp(presence->state, "ended") == 0;
    seen->died += strcmp(presence->state, "died") == 0;
    seen->done += presence->done;
}

static struct seen see_workers(void) {
    struct seen seen = {0};
    tp_status status = tp_worker_each(pool.a, count_presence, &seen);
    if (status < TP_OK) must(status);
    return seen;
}

static void test_presence__a_worker_tells_when_it_is_there_and_when_it_ended(void **state) {
    (void)state;
    tp_worker_options o = rig_undrained();
    rig_put(2, "x");
    size_t told = faults_add((struct faults_aim){.statement = "worker_forget"});
    tp_worker *worker = rig_start(&o, rig_done);
    assert_true(faults_wait_seen(told, 1));
    assert_true(watch_wait(&rig.watch, TP_EVENT_DONE, 2));
    expect_number(see_workers().running, 1);
    tp_worker_stop(worker);
    rig_finish(worker);
    expect_number(see_workers().running, 0);
    expect_number(see_workers().ended, 1);
    expect_number(see_workers().done, 2);
}

static void test_presence__one_that_falls_silent_is_taken_for_dead_and_forgotten_later(void **state) {
    (void)state;
    tp_worker_row silent = {.handlers = pool.handler, .plan = "skip", .pid = 1};
    tp_worker_row stopping = silent, other = silent;
    snprintf(silent.id, sizeof silent.id, "018bcfe5-6800-7000-8000-%012d", (int)getpid());
    snprintf(other.id, sizeof other.id, "018bcfe5-6800-7000-8001-%012d", (int)getpid());
    snprintf(stopping.id, sizeof stopping.id, "018bcfe5-6800-7000-8003-%012d", (int)getpid());
    stopping.state = "stopping";
    other.handlers = "another";
    must(tpi_worker_heartbeat(pool.a, &silent));
    must(tpi_worker_heartbeat(pool.a, &stopping));
    must(tpi_worker_heartbeat(pool.a, &other));
    expect_number(see_workers().running, 1);
    expect_number(see_workers().stopping, 1);
    must(tp_test_advance(pool.a, 61000));
    must(tpi_worker_heartbeat(pool.a, &other));
    expect_number(see_workers().died, 2);
    must(tp_test_advance(pool.a, 25 * 3600000));
    must(tpi_worker_heartbeat(pool.a, &other));
    expect_number(see_workers().died, 0);
}

static void test_presence__a_table_that_cannot_be_written_does_not_stop_the_worker(void **state) {
    (void)state;
    rig_put(5, "x");
    size_t aim = faults_add((struct faults_aim){
        .statement = "worker_update", .fault = TPI_FAULT_NOT_SENT, .kind = FAULTS_NO_TABLE, .times = 1000});
    rig_run(rig_pay);
    rig_expect_paid(5);
    if (faults_hits(aim) < 1) fail_msg("it was not tried");
    expect_number(rig_told(TP_EVENT_ERROR), 1);
}

/* ---- Alerts -------------------------------------------------------------------------------------------- */

static int count_alert(const tp_task *task, const char *text, void *arg) {
    atomic_int *alerts = arg;
    bool right = strcmp(task->handler, pool.handler) == 0 && strcmp(text, "no money") == 0 &&
                 strcmp(task->params, "42") == 0;
    atomic_fetch_add(alerts, right ? 1 : 1000);
    return 0;
}

static int die_before_telling(const tp_task *task, const char *text, void *arg) {
    (void)task;
    (void)text;
    (void)arg;
    kill(getpid(), SIGKILL);
    return 0;
}

static tp_worker_options alerting(atomic_int *alerts) {
    static const tp_retry none = {.size = sizeof(tp_retry), .delays_ms = NULL, .count = 0};
    tp_worker_options o = rig_options();
    o.retry = &none;
    o.on_alert = count_alert;
    o.alert_arg = alerts;
    return o;
}

static void test_alert__is_called_once_for_each_task_that_gave_up(void **state) {
    (void)state;
    atomic_int alerts = 0;
    tp_worker_options o = alerting(&alerts);
    rig_put(5, "42");
    rig_finish(rig_start(&o, rig_fail));
    rig_expect(0, 0, 5);
    expect_number(atomic_load(&alerts), 5);
    must(tp_test_advance(pool.a, 3600000));
    rig_finish(rig_start(&o, rig_fail));
    expect_number(atomic_load(&alerts), 5);
}

/* The step looks once, so what it does not tell is not due. */
/* Nobody else may be there to tell later. */
static void test_alert__is_given_before_a_drained_worker_ends_though_the_first_look_fails(void **state) {
    (void)state;
    atomic_int alerts = 0;
    tp_worker_options o = alerting(&alerts);
    rig_put(1, "42");
    size_t aim = faults_add((struct faults_aim){
        .statement = "alert_due", .fault = TPI_FAULT_NOT_SENT, .kind = FAULTS_LOCKED, .times = 2});
    rig_finish(rig_start(&o, rig_fail));
    rig_expect(0, 0, 1);
    expect_number(faults_hits(aim), 2);
    expect_number(atomic_load(&alerts), 1);
}

static int alerts_of_a_step(void) {
    atomic_int alerts = 0;
    tp_worker_options o = alerting(&alerts);
    tp_worker *worker = rig_open(&o, rig_fail, NULL);
    tp_status status = tp_worker_step(worker, NULL);
    if (status < TP_OK) must(status);
    tp_worker_stop(worker);
    rig_finish(worker);
    return atomic_load(&alerts);
}

static void test_alert__of_a_process_that_died_before_it_told_is_given_by_another(void **state) {
    (void)state;
    rig_put(1, "42");
    expect_number(run_child("mute"), KILLED);
    rig_expect(0, 0, 1);
    expect_number(alerts_of_a_step(), 0); /* its minute is not over */
    must(tp_test_advance(pool.a, 61000));
    expect_number(alerts_of_a_step(), 1);
    expect_number(alerts_of_a_step(), 0);
}

static int refuse_alert(const tp_task *task, const char *text, void *arg) {
    (void)task;
    (void)text;
    atomic_fetch_add((atomic_int *)arg, 1);
    return 1;
}

static void test_alert__that_was_not_told_is_due_again(void **state) {
    (void)state;
    atomic_int refused = 0;
    tp_worker_options o = alerting(&refused);
    o.on_alert = refuse_alert;
    rig_put(1, "42");
    rig_finish(rig_start(&o, rig_fail));
    expect_number(atomic_load(&refused), 1);
    must(tp_test_advance(pool.a, 61000));
    expect_number(alerts_of_a_step(), 1);
}

/* ---- Main ---------------------------------------------------------------------------------------------- */

static int be_child(const char *role, const char *handler) {
    pool_join();
    snprintf(pool.handler, sizeof pool.handler, "%s", handler);
    if (strcmp(role, "poisoned") == 0) return child_worker("hold", kill_the_process, NULL);
    return child_worker(NULL, rig_fail, die_before_telling);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        RIG_TEST(test_hold__effect_and_settle_commit_together),
        RIG_TEST(test_hold__handlers_that_never_ask_are_settled_in_groups),
        RIG_TEST(test_hold__a_slow_handlers_task_keeps_no_others_locked),
        RIG_TEST(test_hold__groups_grow_though_the_database_is_slow),
        RIG_TEST(test_hold__asks_each_session_once_whether_every_node_takes_writes),
        RIG_TEST(test_hold__a_question_that_fails_is_told),
        RIG_TEST(test_hold__no_thread_waits_for_anothers_claim_while_tasks_come),
        RIG_TEST(test_hold__a_failure_takes_the_effect_back_and_is_counted),
        RIG_TEST(test_hold__a_failure_in_a_group_leaves_the_others_done),
        RIG_TEST(test_hold__pays_once_whichever_call_of_it_is_lost),
        RIG_TEST(test_hold__steps_too),
        RIG_TEST(test_hold__tasks_claimed_by_leases_are_run_when_the_worker_holds_again),
        RIG_TEST(test_poison__a_task_that_kills_its_process_ends_in_the_failed_pool),
        RIG_TEST(test_presence__a_worker_tells_when_it_is_there_and_when_it_ended),
        RIG_TEST(test_presence__one_that_falls_silent_is_taken_for_dead_and_forgotten_later),
        RIG_TEST(test_presence__a_table_that_cannot_be_written_does_not_stop_the_worker),
        RIG_TEST(test_alert__is_called_once_for_each_task_that_gave_up),
        RIG_TEST(test_alert__is_given_before_a_drained_worker_ends_though_the_first_look_fails),
        RIG_TEST(test_hold__a_stop_during_the_claim_starts_no_handler),
        RIG_TEST(test_alert__of_a_process_that_died_before_it_told_is_given_by_another),
        RIG_TEST(test_alert__that_was_not_told_is_due_again),
    };
    if (argc > 3 && strcmp(argv[1], "--child") == 0) return be_child(argv[2], argv[3]);
    rig_begin();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    rig_end();
    return failed;
}
