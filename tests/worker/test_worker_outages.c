/* A worker whose connections are lost: before a call reached the database, after it was done but before its
 * answer arrived, or because the server ended the session. Whatever was lost, each task has its effect
 * exactly once and no failure is counted. */
#include "worker/rig.h"

#include "ops/conn.h"
#include "support/session.h"
#include "worker/watchdog.h"

static size_t lose_statement(const char *statement, enum tpi_fault fault, int skip, int times) {
    return faults_lose((struct faults_aim){.statement = statement}, fault, skip, times);
}

/* Who is to be told of, and was it? */
struct silence {
    const char *who;
    atomic_bool told;
};

/* As a server that does not answer until the owner was told of this wait: on a busy machine, or where only
 * one may write, others wait too and may be told of first. */
MEET(answer_when_told) {
    struct silence *silence = arg;
    atomic_store(&silence->told, watch_wait_error(&rig.watch, silence->who));
}

static size_t keep_silent(struct faults_aim aim, struct silence *silence) {
    aim.times = 1;
    aim.meet = answer_when_told;
    aim.arg = silence;
    return faults_add(aim);
}

static void run_with_a_short_limit(tp_handler_fn fn) {
    tpi_watchdog_limit_ms = 300;
    rig_run(1, fn);
    assert_non_null(strstr(rig.watch.errors, "no answer from the database"));
    rig_expect(0, 1, 0);
}

static void expect_told_of_silence(struct faults_aim aim, const char *who, tp_handler_fn fn) {
    struct silence silence = {.who = who};
    size_t number = keep_silent(aim, &silence);
    run_with_a_short_limit(fn);
    expect_number(faults_hits(number), 1);
    assert_true(atomic_load(&silence.told));
}

TEST_AS(test_silence__of_a_claim_is_told,
        expect_told_of_silence(rig_aim_at_claim(), "(dispatcher)", rig_done))
TEST_AS(test_silence__of_a_settle_is_told,
        expect_told_of_silence(rig_aim_at_settle("move_finished"), "(completer)", rig_done))
TEST_AS(test_silence__of_a_handlers_own_commit_is_told,
        expect_told_of_silence(rig_aim_at_settle("move_finished"), "(executor)", rig_pay))

TEST(test_silence__is_told_of_each_that_waits) {
    struct silence claim = {.who = "(dispatcher)"};
    keep_silent(rig_aim_at_claim(), &claim);
    expect_told_of_silence(rig_aim_at_settle("move_finished"), "(completer)", rig_done);
    assert_true(atomic_load(&claim.told));
}

struct alerted {
    tp_worker *worker;
    struct silence silence;
};

/* Takes until the owner was told of another silence, of a claim that began later. */
ALERT(take_long) {
    struct alerted *alerted = arg;
    keep_silent((struct faults_aim){.statement = "claim_lanes"}, &alerted->silence);
    for (int i = 0; i < 30000 && !atomic_load(&alerted->silence.told); i++)
        rig_pause_10_ms();
    tp_worker_stop(alerted->worker);
    return 0;
}

TEST(test_silence__of_the_owner_being_alerted_is_not_told) {
    enum { TRIES = 20 };
    bool told = true;
    /* On a busy machine the alerter may take that long to connect, but not each time. */
    for (int i = 0; told && i < TRIES; i++) {
        struct alerted alerted = {.worker = NULL, .silence = {.who = "(dispatcher)"}};
        faults_clear(); /* there are not as many aims as tries */
        tpi_watchdog_limit_ms = 300 * (i + 1);
        rig.watch.errors[0] = '\0';
        rig_put(1, "x");
        alerted.worker =
            rig_open_with(rig_fail, .retry = &rig_no_retries, .on_alert = take_long, .alert_arg = &alerted);
        must(tp_worker_start(alerted.worker));
        rig_finish(alerted.worker);
        assert_true(atomic_load(&alerted.silence.told));
        told = strstr(rig.watch.errors, "(alerter)") != NULL;
    }
    assert_false(told);
}

TEST(test_settle__is_asked_again_when_its_answer_is_lost) {
    faults_lose(rig_aim_at_settle("move_finished"), TPI_FAULT_ANSWER_LOST, 1, 2);
    rig_run_with(5, rig_done, .settle_count = 1);
    rig_expect(0, 5, 0, .failures = 0, .runs = 5, .done = 5, .lost = 0, .hits = 2);
}

TEST(test_fail__counts_once_when_its_answer_is_lost) {
    faults_lose(rig_aim_at_settle("move_failed"), TPI_FAULT_ANSWER_LOST, 0, 1);
    rig_run_with(1, rig_fail, .retry = &rig_no_retries);
    rig_expect(0, 0, 1, .failures = 1, .gave_up = 1, .hits = 1);
    assert_string_equal(rig.watch.texts[TP_EVENT_GAVE_UP], "no money");
}

HANDLER(fail_then_pay) {
    return tp_run_task(run)->failures ? rig_effect(run, TP_RUN_DONE) : TP_RUN_FAILED;
}

/* What was put off is due once its settle has been asked again. */
static void await_and_make_due(tp_event event, int count, tp_worker *worker) {
    rig_await(event, count);
    expect_number(rig_set_due(1000), count);
    rig_await(TP_EVENT_DONE, count);
    rig_stop(worker);
}

TEST(test_retry__counts_once_when_its_answer_is_lost) {
    lose_statement("settle_retry", TPI_FAULT_ANSWER_LOST, 0, 2);
    await_and_make_due(TP_EVENT_RETRY, 2, rig_start_with(2, fail_then_pay, .retry = RIG_DELAYS(3600000)));
    rig_expect(0, 2, 0, .failures = 2, .effects = 2, .retried = 2, .lost = 0, .hits = 2);
}

HANDLER(later_then_pay) {
    tp_run_delay(run, 3600000);
    return atomic_fetch_add(&rig.runs, 1) ? rig_effect(run, TP_RUN_DONE) : TP_RUN_LATER;
}

TEST(test_release__is_asked_again_when_its_answer_is_lost) {
    lose_statement("settle_release", TPI_FAULT_ANSWER_LOST, 0, 1);
    await_and_make_due(TP_EVENT_RELEASED, 1, rig_start(1, later_then_pay));
    rig_expect_paid(1, .released = 1, .lost = 0, .hits = 1);
}

/* The commit of a task's transaction, in which a task was moved. */
static struct faults_aim commit_of_a_task(void) {
    struct faults_aim aim = rig_aim_at_settle("move_finished");
    return aim.after ? aim : (struct faults_aim){.statement = "commit", .after = "move_finished"};
}

TEST(test_commit__that_happened_unheard_is_not_done_twice) {
    faults_lose(commit_of_a_task(), TPI_FAULT_ANSWER_LOST, 2, 1);
    size_t asked = faults_count("settled");
    rig_run(5, rig_pay);
    expect_number(faults_seen(asked), 1);
    rig_expect_paid(5, .runs = 5, .done = 5, .hits = 1);
}

TEST(test_commit__of_which_nothing_can_be_found_out_is_counted_as_unstored) {
    rig_expect_unstored(commit_of_a_task(), NULL);
}

HANDLER(skip_and_pay) {
    tp_run_reason(run, "left the company");
    return rig_effect(run, TP_RUN_SKIPPED);
}

TEST(test_skip__that_was_committed_unheard_is_not_done_twice) {
    faults_lose(commit_of_a_task(), TPI_FAULT_ANSWER_LOST, 0, 1);
    rig_run(3, skip_and_pay);
    rig_expect_paid(3, .skipped = 3, .hits = 1);
    expect_number(rig_count_state("finished", "skipped"), 3);
}

TEST(test_commit__that_did_not_happen_runs_the_handler_again) {
    faults_lose(commit_of_a_task(), TPI_FAULT_NOT_SENT, 2, 1);
    rig_run(5, rig_pay);
    rig_expect_paid(5, .runs = 6, .done = 5, .hits = 1);
}

TEST(test_transaction__pays_once_whichever_call_of_it_is_lost) {
    enum { CALLS = 35 };
    size_t passes = faults_at(.statement = "begin", .passes = CALLS);
    rig_run(3 * CALLS, rig_pay);
    rig_expect_paid(3 * CALLS);
    if (faults_hits(passes) < 20) fail_msg("only %d calls were lost", faults_hits(passes));
}

TEST(test_run_conn__waits_for_the_database_to_come_back) {
    lose_statement("begin", TPI_FAULT_NOT_SENT, 0, 6);
    rig_run(4, rig_pay);
    rig_expect_paid(4, .hits = 6);
}

HANDLER(read_params_then_pay) {
    const char *params = NULL;
    size_t length = 0;
    tp_verdict verdict = rig_effect(run, TP_RUN_DONE);
    if (verdict != TP_RUN_DONE || tp_run_params(run, &params, &length) != TP_OK) return TP_RUN_FAILED;
    return length == 20000 ? TP_RUN_DONE : TP_RUN_FAILED;
}

static void put_long(int count) {
    char params[20001];
    memset(params, 'p', sizeof params - 1);
    params[sizeof params - 1] = '\0';
    rig_put(count, params);
}

TEST(test_run_params__lost_inside_the_transaction_is_no_failure_of_the_task) {
    put_long(4);
    lose_statement("task_params", TPI_FAULT_NOT_SENT, 1, 2);
    rig_run(0, read_params_then_pay);
    rig_expect_paid(4, .hits = 2);
}

HANDLER(read_params) {
    const char *params = NULL;
    size_t length = 0;
    if (tp_run_params(run, &params, &length) != TP_OK) return TP_RUN_FAILED;
    return length == 20000 ? TP_RUN_DONE : TP_RUN_FAILED;
}

MEET(hang_at_gate) {
    gate_pass(&rig.gate);
}

TEST(test_run_params__a_read_that_gets_no_answer_holds_up_no_other) {
    put_long(3);
    faults_at(.statement = "task_params", .times = 1, .meet = hang_at_gate);
    tp_worker *worker = rig_start_with(0, read_params, .threads = 2);
    rig_await_arrived(1);
    rig_await(TP_EVENT_DONE, 2);
    gate_open(&rig.gate);
    rig_await(TP_EVENT_DONE, 3);
    rig_stop(worker);
    rig_expect(0, 3, 0, .failures = 0);
}

TEST(test_claim__is_asked_again_under_its_token) {
    struct faults_aim claim = rig_aim_at_claim();
    int skip = strcmp(claim.statement, "claim_cas") == 0 ? 13 : 1; /* in the midst of the second */
    faults_lose(claim, TPI_FAULT_ANSWER_LOST, skip, 1);
    rig_run(25, rig_pay);
    rig_expect_paid(25, .claimed = 25, .lost = 0, .hits = 1);
}

TEST(test_claim__loses_no_task_whichever_call_of_it_is_lost) {
    enum { CALLS = 25, TASKS = 300 };
    size_t passes = faults_at(.statement = rig_claim_statement(), .passes = CALLS);
    rig_run_with(TASKS, rig_done, .threads = 2, .batch = 4);
    rig_expect(0, TASKS, 0, .failures = 0, .claimed = TASKS);
    if (faults_hits(passes) < 20) fail_msg("only %d calls were lost", faults_hits(passes));
}

/* The first does; the second waits in the queue meanwhile. */
HANDLER(outlast_the_lease) {
    const size_t *extensions = arg;
    if (atomic_fetch_add(&rig.runs, 1)) return TP_RUN_DONE;
    return faults_wait_seen(*extensions, faults_seen(*extensions) + 6) ? TP_RUN_DONE : TP_RUN_FAILED;
}

TEST(test_lease_renewer__extends_running_and_queued_tasks_past_lost_connections) {
    size_t unheard = lose_statement("settle_extend_many", TPI_FAULT_ANSWER_LOST, 1, 1);
    size_t unsent = lose_statement("settle_extend_many", TPI_FAULT_NOT_SENT, 4, 1);
    rig.arg = &unheard;
    rig_extend_often();
    rig_run_with(2, outlast_the_lease, .threads = 1);
    expect_number(faults_hits(unheard) + faults_hits(unsent), 2);
    rig_expect(0, 2, 0, .failures = 0, .lost = 0);
}

TEST(test_outage__is_told_once_and_its_end_too) {
    tp_worker *worker = rig_start(3, rig_wait);
    rig_await_arrived(3);
    size_t tries = faults_at(.function = "SQLDriverConnect");
    faults_down(true);
    gate_open(&rig.gate);
    rig_await(TP_EVENT_OFFLINE, 1);
    rig_await_seen(tries, 8);
    rig_expect(.offline = 1, .online = 0);
    faults_down(false);
    rig_await(TP_EVENT_DONE, 3);
    rig_stop(worker);
    rig_expect(0, 3, 0, .failures = 0, .offline = 1, .online = 1, .errors = 0);
}

/* Ends the session at the server, from another one. */
MEET(kill_session) {
    long session = session_number_of(link->dbc);
    session_kill(session);
    if (session) atomic_fetch_add((atomic_int *)arg, 1);
}

/* pool.eye serves one thread, so only one statement is aimed at in a run. */
static void run_killing(const char *statement, int skip, int times) {
    atomic_int killed = 0;
    rig_put(4, "x");
    size_t aim =
        faults_at(.statement = statement, .skip = skip, .times = times, .meet = kill_session, .arg = &killed);
    rig_run_with(0, rig_pay, .threads = 1);
    expect_number(faults_hits(aim), times);
    expect_number(atomic_load(&killed), times);
    faults_clear();
}

TEST(test_outage__a_session_that_the_server_ends_costs_no_effect_and_no_failure) {
    rig_needs_sessions_that_can_be_ended();
    run_killing(rig_claim_statement(), 0, 1);
    run_killing("move_finished", 0, 2);
    run_killing("commit", 2, 1);
    rig_expect_paid(12, .lost = 0);
    if (rig_told(TP_EVENT_OFFLINE) < 1) fail_msg("no outage was told");
}

TEST(test_worker__pays_each_once_over_lines_that_break_all_the_time) {
    put_long(150);
    tp_worker *worker = rig_start_with(0, read_params_then_pay, .drain = 1, .threads = 6, .batch = 40);
    faults_noise(50);
    rig_finish(worker);
    rig_expect(0, 150, 0, .effects = 150);
    expect_number(rig_tasks_with_effect(), 150);
    if (rig_told(TP_EVENT_OFFLINE) < 1) fail_msg("no connection was lost");
}

/* As on a server that was made a copy, over the session's own handle: for what begins from now on. */
MEET(make_read_only) {
    (void)sql_raw(link->dbc, "%s", engine->read_only);
}

static bool becomes_read_only(void) {
    if (!engine->read_only) not_tried("a session that becomes read-only");
    return engine->read_only;
}

/* The next session reaches the old server once more, the one after it the new one. */
TEST(test_outage__a_session_that_became_read_only_is_left) {
    if (!becomes_read_only()) return;
    size_t aim = faults_at(.statement = "claim_lanes", .times = 2, .meet = make_read_only);
    size_t connects = faults_at(.function = "SQLDriverConnect");
    rig_run_with(4, rig_pay, .threads = 1);
    expect_number(faults_hits(aim), 2);
    if (faults_seen(connects) < 3) fail_msg("only %d sessions", faults_seen(connects));
    rig_expect_paid(4, .lost = 0);
}

/* The first has the claimer's session found out, and leaves its own so that it writes no more. */
HANDLER(pay_and_have_claimer_leave) {
    const size_t *connects = arg;
    tp_conn *conn = NULL;
    tp_verdict verdict = rig_effect(run, TP_RUN_DONE);
    if (atomic_fetch_add(&rig.runs, 1) > 0) return verdict;
    int before = faults_seen(*connects);
    faults_at(.statement = "claim_lanes", .times = 1, .meet = make_read_only);
    for (int i = 0; i < 3; i++) {
        tp_new_task task = {.size = sizeof task, .handler = pool.handler};
        if (tp_enqueue(pool.b, &task) != TP_OK) return TP_RUN_FAILED;
    }
    if (!faults_wait_seen(*connects, before + 1) || tp_run_conn(run, &conn) != TP_OK) return TP_RUN_FAILED;
    make_read_only(&conn->store.link, NULL);
    return verdict;
}

TEST(test_outage__what_one_session_finds_out_counts_for_all) {
    if (pool_on_sqlite() || !becomes_read_only()) return; /* the claimer could not write beside the handler */
    if (!pool_driver()->tx_probe) skip(); /* what the handler's statement met nobody else knows */
    size_t connects = faults_at(.function = "SQLDriverConnect");
    rig.arg = &connects;
    rig_run_with(1, pay_and_have_claimer_leave, .threads = 1);
    rig_expect_paid(4);
}

/* The session alone that handlers have: nobody but them sees their statements fail. */
HANDLER(pay_and_spoil) {
    tp_conn *conn = NULL;
    if (tp_run_conn(run, &conn) != TP_OK) return TP_RUN_FAILED;
    if (atomic_fetch_add(&rig.runs, 1) == 0) make_read_only(&conn->store.link, arg);
    return rig_effect(run, TP_RUN_DONE);
}

static void pay_over_a_session_that_became_read_only(const char *plan) {
    int tasks = 8;
    if (plan && !pool_plan_possible(plan)) return;
    atomic_store(&rig.runs, 0);
    rig_run_with(tasks, pay_and_spoil, .plan = plan, .threads = 1);
    expect_number(rig_count("pending") + rig_count("failed"), 0);
    rig_expect(.effects = rig_count("finished"));
    if (rig_failures("finished") > 6) fail_msg("%d failures", rig_failures("finished"));
    sql_run(pool.eye, "DELETE FROM tp_finished");
    sql_run(pool.eye, "DELETE FROM tp_fx");
}

TEST(test_outage__a_session_on_which_every_handler_fails_is_left) {
    if (!becomes_read_only()) return;
    pay_over_a_session_that_became_read_only(NULL);
    pay_over_a_session_that_became_read_only("hold");
}

static struct {
    const struct tpi_link *link;
    atomic_int failed;
} spoiled;

/* The first session that claims, until it is opened anew. Called under a lock. */
MEANS(is_spoiled) {
    const char *claims = "claim_lanes";
    bool runs = faults_executes(link->statement, function);
    if (strcmp(function, "SQLDriverConnect") == 0 && link == spoiled.link) spoiled.link = NULL;
    if (!atomic_load(&spoiled.failed) && runs && strcmp(link->statement, claims) == 0) spoiled.link = link;
    if (link != spoiled.link || !runs) return false;
    atomic_fetch_add(&spoiled.failed, 1);
    return true;
}

TEST(test_outage__a_session_on_which_everything_fails_is_left) {
    atomic_store(&spoiled.failed, 0);
    faults_refuse_at((struct faults_aim){.fits = is_spoiled}, FAULTS_PERMANENT, 0, 100000);
    rig_run(4, rig_pay);
    rig_expect_paid(4, .lost = 0);
    if (rig_told(TP_EVENT_ERROR) < 1) fail_msg("the owner was not told");
}
