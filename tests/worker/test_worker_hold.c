/* Workers with plan hold, and what outlives a worker: alerts, the list of workers, tasks that kill their
 * process. */
#include "ops/for_workers.h"
#include "worker/rig.h"

#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include "base/clock.h"
#include "ops/conn.h"
#include "support/child.h"
#include "worker/queue.h"
#include "worker/worker.h"

static void run_holding(int tasks, tp_handler_fn fn) {
    rig_run_with(tasks, fn, .plan = "hold");
}

TEST(test_hold__effect_and_settle_commit_together) {
    rig_needs_hold();
    run_holding(30, rig_pay);
    rig_expect_paid(30, .done = 30, .errors = 0);
}

/* How many commits the tasks took at best. Groups grow while handlers are quick, which on a busy machine they
 * are not each time. */
static int fewest_commits(int threads, int tasks, int enough, struct faults_aim aim) {
    enum { TRIES = 20 };
    size_t commits = faults_add(aim);
    int before = 0, fewest = INT_MAX;
    for (int tries = 1; tries <= TRIES && fewest > enough; tries++) {
        rig_run_with(tasks, rig_done, .plan = "hold", .threads = threads);
        rig_expect(0, tasks * tries, 0, .failures = 0);
        /* A deadlock between two groups, which some databases have, costs one of them a second run. */
        if (atomic_load(&rig.runs) > 2 * tasks * tries) fail_msg("%d runs", atomic_load(&rig.runs));
        int took = faults_seen(commits) - before;
        before += took;
        if (took < fewest) fewest = took;
    }
    return fewest;
}

TEST(test_hold__handlers_that_never_ask_are_settled_in_groups) {
    rig_needs_hold();
    int commits = fewest_commits(2, 100, 60, (struct faults_aim){.statement = "commit"});
    if (commits > 60) fail_msg("%d transactions for 100 tasks", commits);
}

/* Longer than the handlers of a group may take. */
static void pass_time(void) {
    for (int64_t end = tpi_clock_mono_ms() + 70; tpi_clock_mono_ms() < end;)
        sched_yield();
}

HANDLER(take_long) {
    pass_time();
    return TP_RUN_DONE;
}

MEET(commit_long) {
    pass_time();
}

TEST(test_hold__groups_grow_though_the_database_is_slow) {
    rig_needs_hold();
    struct faults_aim slow = {.statement = "commit", .times = INT_MAX, .meet = commit_long};
    int commits = fewest_commits(1, 40, 20, slow);
    if (commits > 20) fail_msg("%d transactions for 40 tasks", commits);
}

TEST(test_hold__a_slow_handlers_task_keeps_no_others_locked) {
    rig_needs_hold();
    size_t groups = faults_count("hold_finish_many");
    rig_run_with(4, take_long, .plan = "hold", .threads = 1);
    rig_expect(0, 4, 0);
    expect_number(faults_seen(groups), 0);
}

/* ---- Tasks that come one by one, from another process ------------------------------------------------- */

enum { TASKS = 3 };

struct lone {
    size_t looks, asked, taken_as_one, taken_as_many; /* aims */
    atomic_int asked_before, as_one_before, as_many_before, asked_then, as_one_then, as_many_then;
};

static bool reads_lanes(const struct tpi_link *link, const char *function) {
    return link->statement && strcmp(link->statement, "claim_lanes") == 0 &&
           faults_executes(link->statement, function);
}

MEANS(looks) {
    return reads_lanes(link, function) && link->tx == TPI_TX_NONE;
}

MEANS(asks) {
    return reads_lanes(link, function) && link->tx != TPI_TX_NONE;
}

HANDLER(see_lone) {
    struct lone *lone = arg;
    atomic_store(&lone->asked_then, faults_seen(lone->asked));
    atomic_store(&lone->as_one_then, faults_seen(lone->taken_as_one));
    atomic_store(&lone->as_many_then, faults_seen(lone->taken_as_many));
    return rig_done(run, NULL);
}

/* A thread that rests looks without a transaction: from then on it claims only what a look saw. */
static void await_rest(struct lone *lone) {
    rig_await_seen(lone->looks, faults_seen(lone->looks) + 3);
    atomic_store(&lone->asked_before, faults_seen(lone->asked));
    atomic_store(&lone->as_one_before, faults_seen(lone->taken_as_one));
    atomic_store(&lone->as_many_before, faults_seen(lone->taken_as_many));
}

/* After some that are due together. Each becomes due while the worker rests, which no enqueue of this process
 * tells it, and is done when see is called. Gives of how many it said so. */
static int take_lone_tasks(struct lone *lone, int together, bool (*see)(const struct lone *lone)) {
    int seen = 0;
    *lone = (struct lone){.looks = faults_at(.fits = looks),
                          .asked = faults_at(.fits = asks),
                          .taken_as_one = faults_count("hold_take_one"),
                          .taken_as_many = faults_count("hold_take")};
    tp_new_task tasks[TASKS];
    for (int i = 0; i < TASKS; i++) {
        tasks[i] = (tp_new_task){.size = sizeof *tasks, .handler = pool.handler, .delay_ms = 3600000};
        must(tp_enqueue(pool.a, &tasks[i]));
    }
    rig_put(together, "x");
    rig.arg = lone;
    tp_worker *worker = rig_start_with(0, see_lone, .plan = "hold", .threads = 1);
    rig_await(TP_EVENT_DONE, together);
    for (int i = 1; i <= TASKS; i++) {
        await_rest(lone);
        sql_run(pool.eye, "UPDATE tp_pending SET due_at = 0 WHERE id = '%s'", tasks[i - 1].id);
        rig_await(TP_EVENT_DONE, together + i);
        seen += see(lone);
    }
    rig_stop(worker);
    rig_expect(0, together + TASKS, 0, .runs = together + TASKS, .failures = 0);
    return seen;
}

static bool was_not_asked(const struct lone *lone) {
    return atomic_load(&lone->asked_then) == atomic_load(&lone->asked_before);
}

TEST(test_hold__what_a_look_saw_is_claimed_without_a_second_look) {
    struct lone lone;
    rig_needs_hold();
    /* InnoDB shows a commit before it gives its locks back, and what is locked is passed over. */
    int least = pool_on_sqlite() || pool_on_postgres() ? TASKS : 1;
    assert_in_range(take_lone_tasks(&lone, 0, was_not_asked), least, TASKS);
}

static bool was_taken_as_one(const struct lone *lone) {
    return atomic_load(&lone->as_one_then) == atomic_load(&lone->as_one_before) + 1 &&
           atomic_load(&lone->as_many_then) == atomic_load(&lone->as_many_before);
}

static void needs_statement_for_one(void) {
    rig_needs_hold();
    if (pool.a->store.caps & TPI_CAP_HOLD_ONE) return;
    print_message("SKIPPED: no statement here takes one task alone\n");
    skip();
}

TEST(test_hold__who_takes_lone_tasks_claims_one_each_time) {
    struct lone lone;
    needs_statement_for_one();
    /* The last of those that came together came not alone, so the first after them is claimed as one of many,
     * unless the thread stood still meanwhile: that looks like slow handlers, whose tasks are taken alone. */
    assert_in_range(take_lone_tasks(&lone, 2, was_taken_as_one), TASKS - 1, TASKS);
}

TEST(test_hold__what_others_hold_is_not_tried_twice_in_a_claim) {
    needs_statement_for_one();
    const char *handler = pool.handler;
    tp_claim_request request = {
        .size = sizeof request, .handlers = &handler, .handler_count = 1, .plan = "hold"};
    tp_batch *batch = NULL;
    rig_put(1, "x");
    must(tp_begin(pool.a));
    must(tp_claim(pool.a, &request, &batch));
    size_t asked = faults_at(.fits = asks), taken = faults_count("hold_take_one");
    tp_worker *worker = rig_start_with(0, rig_done, .plan = "hold", .threads = 1);
    rig_await_seen(asked, 6);
    rig_stop(worker);
    if (faults_seen(taken) > faults_seen(asked))
        fail_msg("%d tries in %d claims", faults_seen(taken), faults_seen(asked));
    must(tp_rollback(pool.a));
    tp_batch_free(batch);
}

/* ---- Servers of which several take writes -------------------------------------------------------------- */

static void needs_question(void) {
    if (pool.a->store.link.driver->may_have_writers) return;
    print_message("SKIPPED: no server here is one of several that take writes\n");
    skip();
}

static void hold_nothing(tp_conn *conn, tp_status expected) {
    const char *handler = pool.handler;
    tp_claim_request request = {
        .size = sizeof request, .handlers = &handler, .handler_count = 1, .plan = "hold"};
    tp_batch *batch = NULL;
    must(tp_begin(conn));
    expect_number(tp_claim(conn, &request, &batch), expected);
    must(tp_rollback(conn));
}

TEST(test_hold__asks_each_session_once_whether_every_node_takes_writes) {
    tp_conn *conn = NULL;
    needs_question();
    size_t asked = faults_count("cluster");
    must(tp_conn_open(pool.env, &conn));
    hold_nothing(conn, TP_NONE);
    hold_nothing(conn, TP_NONE);
    expect_number(faults_seen(asked), 1);
    must(tp_conn_reopen(conn));
    hold_nothing(conn, TP_NONE);
    expect_number(faults_seen(asked), 2);
    tp_conn_close(conn);
}

TEST(test_hold__a_question_that_fails_is_told) {
    tp_conn *conn = NULL;
    needs_question();
    rig_put(1, "x");
    faults_refuse("cluster", FAULTS_PERMANENT, 0, 2);
    tp_worker *worker = rig_open_with(rig_done, .drain = 1, .plan = "hold");
    expect_number(tp_worker_start(worker), TP_DB);
    must(tp_conn_open(pool.env, &conn));
    hold_nothing(conn, TP_DB);
    tp_conn_close(conn);
    must(tp_worker_start(worker));
    rig_finish(worker);
    rig_expect(0, 1, 0);
}

MEET(stop_worker) {
    tp_worker **worker = arg;
    tp_worker_stop(*worker);
}

static size_t stop_in(const char *statement, tp_worker **worker) {
    return faults_at(.statement = statement, .times = 1, .meet = stop_worker, .arg = worker);
}

TEST(test_hold__a_stop_during_the_claim_starts_no_handler) {
    rig_needs_hold();
    tp_worker *worker = rig_open_with(rig_done, .drain = 1, .plan = "hold");
    rig_put(3, "x");
    size_t aims[] = {stop_in("hold_take", &worker), stop_in("hold_take_one", &worker),
                     stop_in("claim_pick", &worker)};
    must(tp_worker_start(worker));
    rig_finish(worker);
    if (faults_hits(aims[0]) + faults_hits(aims[1]) + faults_hits(aims[2]) < 1) fail_msg("no claim was met");
    rig_expect(.runs = 0);
    expect_number(rig_count_state("pending", "pending"), 3);
}

/* Calls that are under way at the same time. */
struct meeting {
    atomic_int there;
    atomic_bool met;
};

MEET(wait_for_another) {
    struct meeting *meeting = arg;
    if (atomic_fetch_add(&meeting->there, 1) == 1) atomic_store(&meeting->met, true);
    for (int64_t end = tpi_clock_mono_ms() + 60000; !atomic_load(&meeting->met) && tpi_clock_mono_ms() < end;)
        sched_yield();
    atomic_fetch_sub(&meeting->there, 1);
}

TEST(test_hold__no_thread_waits_for_anothers_claim_while_tasks_come) {
    static const char *const claims[] = {"hold_take_one", "hold_take", "claim_pick"};
    struct meeting meeting = {0};
    rig_needs_hold();
    if (pool_on_sqlite()) skip(); /* where one transaction writes at a time */
    tp_worker *worker =
        rig_start_with(6, rig_wait, .drain = 1, .plan = "hold", .threads = 2, .settle_count = 1);
    rig_await_arrived(2);
    for (size_t i = 0; i < COUNT(claims); i++)
        faults_at(.statement = claims[i], .times = 2, .meet = wait_for_another, .arg = &meeting);
    rig_let_finish(worker);
    rig_expect(0, 6, 0);
    assert_true(atomic_load(&meeting.met));
}

HANDLER(pay_at_the_third_try) {
    tp_verdict verdict = rig_effect(run, tp_run_task(run)->failures < 2 ? TP_RUN_FAILED : TP_RUN_DONE);
    if (verdict == TP_RUN_FAILED) tp_run_reason(run, "bank closed");
    return verdict;
}

TEST(test_hold__a_failure_takes_the_effect_back_and_is_counted) {
    rig_needs_hold();
    run_holding(3, pay_at_the_third_try);
    rig_expect(0, 3, 0, .failures = 6, .effects = 3, .retried = 6);
    assert_string_equal(rig.watch.texts[TP_EVENT_RETRY], "bank closed");
}

HANDLER(fail_now_and_then) {
    if (tp_run_task(run)->failures == 0 && atomic_fetch_add(&rig.runs, 1) % 3 == 1) return TP_RUN_FAILED;
    return TP_RUN_DONE;
}

TEST(test_hold__a_failure_in_a_group_leaves_the_others_done) {
    rig_needs_hold();
    run_holding(60, fail_now_and_then);
    rig_expect(0, 60, 0, .failures = rig_told(TP_EVENT_RETRY));
    if (rig_told(TP_EVENT_RETRY) < 10) fail_msg("hardly anything failed");
}

TEST(test_hold__pays_once_whichever_call_of_it_is_lost) {
    enum { CALLS = 30 };
    rig_needs_hold();
    size_t passes = faults_at(.statement = "commit", .passes = CALLS);
    run_holding(2 * CALLS, rig_pay);
    rig_expect_paid(2 * CALLS);
    if (faults_hits(passes) < 20) fail_msg("only %d calls were lost", faults_hits(passes));
}

static struct faults_aim commit_of_a_task(void) {
    bool in_two = (pool.eye->store.caps & TPI_CAP_MOVE_IN_TWO) != 0;
    return (struct faults_aim){.statement = "commit", .after = in_two ? "hold_delete" : "hold_finish"};
}

/* It was stored, but nobody can find that out. */
TEST(test_hold__a_commit_of_which_nothing_can_be_found_out_is_counted_as_unstored) {
    rig_needs_hold();
    rig_expect_unstored(commit_of_a_task(), "hold");
}

TEST(test_hold__a_commit_that_is_found_out_about_later_is_told) {
    rig_needs_hold();
    faults_lose(commit_of_a_task(), TPI_FAULT_ANSWER_LOST, 0, 1);
    size_t asked = faults_refuse("settled", FAULTS_PERMANENT, 0, 1);
    tp_worker *worker = rig_start_with(1, rig_pay, .plan = "hold");
    rig_await(TP_EVENT_DONE, 1);
    expect_number(rig_info(worker).unstored, 0);
    rig_stop(worker);
    expect_number(faults_hits(asked), 1);
    rig_expect_paid(1, .runs = 1, .done = 1, .errors = 0);
}

/* The server may be at the commit still, when it is asked for the last time. */
TEST(test_hold__a_commit_without_an_answer_of_a_task_that_is_open_is_told) {
    rig_needs_hold();
    faults_lose(commit_of_a_task(), TPI_FAULT_NOT_SENT, 0, 1);
    tp_worker *worker = rig_start_with(1, rig_pay, .plan = "hold");
    rig_await(TP_EVENT_DONE, 1);
    rig_stop(worker);
    rig_expect_told(TP_EVENT_ERROR, "its commit got no answer; it is run again unless it was stored");
    rig_expect_paid(1, .runs = 2, .done = 1, .errors = 1);
}

TEST(test_hold__steps_too) {
    rig_needs_hold();
    rig_put(3, "x");
    tp_worker *worker = rig_open_with(rig_pay, .plan = "hold");
    rig_step(worker, 3);
    rig_step(worker, 0);
    rig_expect_paid(3);
    rig_stop(worker);
}

/* A worker that held died lately, so this one claims by leases; when that is long enough ago it holds again.
 */
TEST(test_hold__tasks_claimed_by_leases_are_run_when_the_worker_holds_again) {
    rig_needs_hold();
    tp_worker_row dead = {.handlers = pool.handler, .plan = "hold"};
    snprintf(dead.id, sizeof dead.id, "018bcfe5-6800-7000-8002-%012d", (int)getpid());
    must(tpi_worker_heartbeat(pool.a, &dead, NULL));
    must(tpi_worker_died(pool.a, dead.id));
    tp_worker *worker = rig_start_with(5, rig_wait, .plan = "hold", .threads = 1);
    rig_await(TP_EVENT_CLAIMED, 5);
    rig_await_arrived(1);
    expect_number(sql_run(pool.eye, "DELETE FROM tp_worker WHERE id = '%s'", dead.id), 1);
    tpi_queue_hold(&worker->queue, true);
    gate_open(&rig.gate);
    rig_await(TP_EVENT_DONE, 5);
    rig_stop(worker);
    rig_expect(0, 5, 0);
}

HANDLER(kill_the_process) {
    kill(getpid(), SIGKILL);
    return TP_RUN_DONE;
}

static int child_worker(const char *plan, tp_handler_fn fn, tp_alert_fn on_alert) {
    tp_worker_options o = {.size = sizeof o, .plan = plan, .poll_ms = 20, .drain = 1, .on_alert = on_alert};
    tp_worker *worker = NULL;
    if (on_alert) o.retry = &rig_no_retries;
    if (tp_worker_open(pool.env, &o, &worker) != TP_OK) return 2;
    if (tp_worker_handle(worker, pool.handler, fn, NULL) != TP_OK) return 2;
    if (tp_worker_start(worker) != TP_OK || tp_worker_join(worker) != TP_OK) return 2;
    tp_worker_close(worker);
    return 0;
}

ROLE(poisoned) {
    return child_worker("hold", kill_the_process, NULL);
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

TEST(test_poison__a_task_that_kills_its_process_ends_in_the_failed_pool) {
    rig_needs_hold();
    rig_put_one(.max_failures = 3);
    int deaths = 0;
    for (; deaths < 10 && rig_count("failed") == 0; deaths++) {
        int code = run_child("poisoned");
        if (code == 0) break;
        expect_number(code, KILLED);
        must(rig_advance(pool.a, RIG_LEASE_OVER_MS)); /* the lease, when there was one */
    }
    rig_expect(0, 0, 1, .failures = 3);
    expect_number(deaths, 4); /* the first was held and left no trace */
}

struct seen {
    int running, stopping, ended, died;
    int64_t done;
};

static void count_row(const tp_worker_row *row, void *arg) {
    struct seen *seen = arg;
    if (strcmp(row->handlers, pool.handler) != 0) return;
    seen->running += strcmp(row->state, "running") == 0;
    seen->stopping += strcmp(row->state, "stopping") == 0;
    seen->ended += strcmp(row->state, "ended") == 0;
    seen->died += strcmp(row->state, "died") == 0;
    seen->done += row->done;
}

static struct seen see_workers(void) {
    struct seen seen = {0};
    tp_status status = tp_worker_each(pool.a, count_row, &seen);
    if (status < TP_OK) must(status);
    return seen;
}

TEST(test_worker_row__a_worker_tells_when_it_is_there_and_when_it_ended) {
    tp_worker *worker = rig_start(2, rig_done);
    rig_await(TP_EVENT_DONE, 2);
    for (int i = 0; see_workers().running < 1 && i < 30000; i++)
        rig_pause_10_ms(); /* another thread may write it, while a claim is under way */
    expect_number(see_workers().running, 1);
    rig_stop(worker);
    expect_number(see_workers().running, 0);
    expect_number(see_workers().ended, 1);
    expect_number(see_workers().done, 2);
}

TEST(test_worker_row__one_that_falls_silent_is_taken_for_dead_and_forgotten_later) {
    tp_worker_row silent = {.handlers = pool.handler, .plan = "skip", .pid = 1};
    tp_worker_row stopping = silent, other = silent;
    snprintf(silent.id, sizeof silent.id, "018bcfe5-6800-7000-8000-%012d", (int)getpid());
    snprintf(other.id, sizeof other.id, "018bcfe5-6800-7000-8001-%012d", (int)getpid());
    snprintf(stopping.id, sizeof stopping.id, "018bcfe5-6800-7000-8003-%012d", (int)getpid());
    stopping.state = "stopping";
    other.handlers = "another";
    must(tpi_worker_heartbeat(pool.a, &silent, NULL));
    must(tpi_worker_heartbeat(pool.a, &stopping, NULL));
    must(tpi_worker_heartbeat(pool.a, &other, NULL));
    expect_number(see_workers().running, 1);
    expect_number(see_workers().stopping, 1);
    must(rig_advance(pool.a, RIG_LEASE_OVER_MS));
    must(tpi_worker_heartbeat(pool.a, &other, NULL));
    expect_number(see_workers().died, 2);
    must(rig_advance(pool.a, 31 * INT64_C(86400000)));
    must(tpi_worker_heartbeat(pool.a, &other, NULL));
    expect_number(see_workers().died, 0);
}

TEST(test_worker_row__a_table_that_cannot_be_written_does_not_stop_the_worker) {
    size_t aim = faults_refuse("worker_update", FAULTS_NO_TABLE, 0, 1000);
    rig_run(5, rig_pay);
    rig_expect_paid(5, .errors = 1);
    if (faults_hits(aim) < 1) fail_msg("it was not tried");
}

ALERT(count_alert) {
    atomic_int *alerts = arg;
    bool right = strcmp(task->handler, pool.handler) == 0 && strcmp(text, "no money") == 0 &&
                 strcmp(task->params, "42") == 0;
    atomic_fetch_add(alerts, right ? 1 : 1000);
    return 0;
}

ALERT(die_before_telling) {
    kill(getpid(), SIGKILL);
    return 0;
}

ROLE(mute) {
    return child_worker(NULL, rig_fail, die_before_telling);
}

/* The options of a worker that tries nothing again and counts its alerts. */
#define ALERTING(alerts) .retry = &rig_no_retries, .on_alert = count_alert, .alert_arg = (alerts)

TEST(test_alert__is_called_once_for_each_task_that_gave_up) {
    atomic_int alerts = 0;
    rig_put(5, "42");
    rig_run_with(0, rig_fail, ALERTING(&alerts));
    rig_expect(0, 0, 5);
    expect_number(atomic_load(&alerts), 5);
    must(rig_advance(pool.a, 3600000));
    rig_run_with(0, rig_fail, ALERTING(&alerts));
    expect_number(atomic_load(&alerts), 5);
}

/* Nobody else may be there to tell later. */
TEST(test_alert__is_given_before_a_drained_worker_ends_though_the_first_poll_fails) {
    atomic_int alerts = 0;
    rig_put(1, "42");
    faults_refuse("alert_due", FAULTS_LOCKED, 0, 2);
    rig_run_with(0, rig_fail, ALERTING(&alerts));
    rig_expect(0, 0, 1, .hits = 2);
    expect_number(atomic_load(&alerts), 1);
}

/* The step looks once, so what it does not tell is not due. */
static int alerts_of_a_step(void) {
    atomic_int alerts = 0;
    tp_worker *worker = rig_open_with(rig_fail, .drain = 1, ALERTING(&alerts));
    tp_status status = tp_worker_step(worker, NULL);
    if (status < TP_OK) must(status);
    rig_stop(worker);
    return atomic_load(&alerts);
}

TEST(test_alert__of_a_process_that_died_before_it_told_is_given_by_another) {
    rig_put(1, "42");
    expect_number(run_child("mute"), KILLED);
    rig_expect(0, 0, 1);
    expect_number(alerts_of_a_step(), 0); /* its minute is not over */
    must(rig_advance(pool.a, RIG_LEASE_OVER_MS));
    expect_number(alerts_of_a_step(), 1);
    expect_number(alerts_of_a_step(), 0);
}

ALERT(refuse_alert) {
    atomic_fetch_add((atomic_int *)arg, 1);
    return 1;
}

TEST(test_alert__that_was_not_told_is_due_again) {
    atomic_int refused = 0;
    rig_put(1, "42");
    rig_run_with(0, rig_fail, ALERTING(&refused), .on_alert = refuse_alert);
    expect_number(atomic_load(&refused), 1);
    must(rig_advance(pool.a, RIG_LEASE_OVER_MS));
    expect_number(alerts_of_a_step(), 1);
}
