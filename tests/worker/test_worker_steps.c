/* Steps of handlers: each is done once, with what it wrote and its result, whatever is lost and whoever dies
 * between any two steps.calls. What a step must not do, and when it goes: test_worker_step_rules.c. */
#include "worker/steps.h"

#include <signal.h>

#include "ops/conn.h"
#include "support/child.h"

/* ---- Once ---------------------------------------------------------------------------------------------- */

HANDLER(charge_and_mail_the_second_time) {
    return steps_charge_and_mail(run, arg) == TP_RUN_DONE && atomic_load(&rig.runs) > 1 ? TP_RUN_DONE
                                                                                        : TP_RUN_FAILED;
}

TEST(test_step__that_was_done_is_not_run_again_by_a_retry) {
    steps_run(1, charge_and_mail_the_second_time);
    rig_expect(0, 1, 0, .runs = 2, .failures = 1, .retried = 1);
    expect_steps(2);
    assert_string_equal(steps.results[0], "charge 0");
    assert_string_equal(steps.results[1], "mail 1");
}

/* Of both steps the commit gets no answer, and the handler is called once more. */
TEST(test_step__is_done_once_by_every_plan_that_leases) {
    for (size_t i = 0; i < PLANS; i++) {
        if (!pool_plan_possible(pool_plans[i]) || pool_plan_holds(pool_plans[i])) continue;
        must((tp_status)pool_fresh(NULL));
        faults_clear();
        faults_lose(steps_commit(), TPI_FAULT_ANSWER_LOST, 0, 2);
        atomic_store(&rig.runs, 0);
        atomic_store(&steps.calls, 0);
        tp_worker_options options = STEPS_OPTIONS(.settle_ms = 1);
        options.plan = pool_plans[i];
        rig_finish(rig_start_by(1, &options, charge_and_mail_the_second_time));
        rig_expect(0, 1, 0, .runs = 2, .failures = 1, .hits = 2);
        expect_steps(2);
    }
}

HANDLER(charge_twice) {
    return steps_do(run, 0, "charge", steps_pay) && steps_do(run, 1, "charge", steps_pay) ? TP_RUN_DONE
                                                                                          : TP_RUN_FAILED;
}

TEST(test_step__of_the_same_name_is_the_same_step) {
    steps_run(1, charge_twice);
    rig_expect(0, 1, 0);
    expect_number(steps_effects("charge"), 1);
    assert_string_equal(steps.results[1], "charge 0");
}

HANDLER(charge_then_pay) {
    return steps_do(run, 0, "charge", steps_pay) ? rig_effect(run, TP_RUN_DONE) : TP_RUN_FAILED;
}

/* What comes after the steps may be in the task's own transaction. */
TEST(test_step__may_be_followed_by_the_tasks_transaction) {
    steps_run(2, charge_then_pay);
    rig_expect_paid(2);
    expect_number(steps_effects("charge"), 2);
}

static char long_result[TP_PARAMS_MAX + 1];

STEP_FN(answer_long) {
    return tp_run_step_result(run, long_result);
}

HANDLER(compare_results) {
    const char *result = NULL;
    atomic_fetch_add(&rig.runs, 1);
    bool whole =
        tp_run_step(run, "long", answer_long, NULL, &result) == TP_OK && strcmp(result, long_result) == 0;
    bool none = tp_run_step(run, "none", steps_answer_nothing, NULL, &result) == TP_OK && *result == '\0';
    bool same =
        tp_run_step(run, "long", answer_long, NULL, &result) == TP_OK && strcmp(result, long_result) == 0;
    return whole && none && same && atomic_load(&rig.runs) > 1 ? TP_RUN_DONE : TP_RUN_FAILED;
}

TEST(test_step__gives_its_result_back_whole) {
    memset(long_result, 'y', TP_PARAMS_MAX);
    memcpy(long_result, "\xc3\xa4'\"\\%?", 7);
    steps_run(1, compare_results);
    rig_expect(0, 1, 0, .runs = 2, .failures = 1);
    expect_number(atomic_load(&steps.calls), 1);
}

/* ---- What is lost -------------------------------------------------------------------------------------- */

TEST(test_step__whose_commit_got_no_answer_is_found) {
    faults_lose(steps_commit(), TPI_FAULT_ANSWER_LOST, 0, 1);
    steps_run(1, steps_charge_and_mail);
    rig_expect(0, 1, 0, .runs = 1, .failures = 0, .hits = 1);
    expect_steps(2);
}

/* The look that follows, by any of its statements, has no answer either. */
TEST(test_step__is_found_when_the_next_session_is_lost_too) {
    static const char *const looks[] = {"begin", "settle_extend", "step_find", "commit"};
    for (size_t i = 0; i < COUNT(looks); i++) {
        struct faults_aim look = {.statement = looks[i]};
        must((tp_status)pool_fresh(NULL));
        faults_clear();
        atomic_store(&rig.runs, 0);
        size_t lost = faults_lose(steps_commit(), TPI_FAULT_ANSWER_LOST, 0, 1);
        if (i == 3) look.after = "step_find";
        size_t second = faults_lose(look, TPI_FAULT_ANSWER_LOST, i == 3 ? 0 : 1, 1);
        steps_run(1, steps_charge_and_mail);
        rig_expect(0, 1, 0, .runs = 1, .failures = 0);
        expect_number(faults_hits(lost), 1);
        expect_number(faults_hits(second), 1);
        expect_steps(2);
    }
}

TEST(test_step__whose_commit_did_not_arrive_is_run_again) {
    faults_lose(steps_commit(), TPI_FAULT_NOT_SENT, 0, 2);
    steps_run(1, steps_charge_and_mail);
    rig_expect(0, 1, 0, .runs = 1, .failures = 0, .hits = 2);
    expect_steps(4);
}

static bool do_it_elsewhere(tp_run *run) {
    return sql_try(pool.eye,
                   "INSERT INTO tp_step (task_id, step, task_created_at, owner, result, created_at) "
                   "SELECT id, 'charge', created_at, owner, 'earlier', 1 FROM tp_pending WHERE id = '%s'",
                   tp_run_task(run)->id);
}

STEP_FN(pay_beside_another) {
    tp_status status = steps_pay(run, conn, arg);
    if (!pool_on_sqlite() && atomic_load(&steps.calls) == 1 && !do_it_elsewhere(run)) return TP_DB;
    return status;
}

HANDLER(charge_beside_another) {
    /* There nobody writes while a step does. */
    if (pool_on_sqlite() && !do_it_elsewhere(run)) return TP_RUN_FAILED;
    return steps_do(run, 0, "charge", pay_beside_another) ? TP_RUN_DONE : TP_RUN_FAILED;
}

/* A transaction whose commit got no answer is done by the server only when the step is run again: that one is
 * rolled back. */
TEST(test_step__that_is_done_elsewhere_meanwhile_is_rolled_back) {
    steps_run(1, charge_beside_another);
    rig_expect(0, 1, 0, .failures = 0);
    assert_string_equal(steps.results[0], "earlier");
    expect_number(atomic_load(&steps.calls), !pool_on_sqlite());
    expect_number(steps_effects("charge"), 0);
}

STEP_FN(once_as_well) {
    tp_status status = tp_once(conn, pool.handler, NULL);
    return status == TP_OK ? steps_pay(run, conn, arg) : status;
}

HANDLER(charge_once) {
    atomic_fetch_add(&rig.runs, 1);
    return steps_do(run, 0, "charge", once_as_well) ? TP_RUN_DONE : TP_RUN_FAILED;
}

TEST(test_step__that_a_deadlock_ended_is_run_again) {
    faults_refuse("once_add", FAULTS_CONFLICT, 0, 2);
    steps_run(1, charge_once);
    rig_expect(0, 1, 0, .runs = 1, .failures = 0, .hits = 2);
    expect_number(steps_effects("charge"), 1);
}

/* The handler is called again, too, before that counts. */
TEST(test_step__whose_transaction_is_lost_for_ever_is_a_failure_in_the_end) {
    faults_refuse("once_add", FAULTS_CONFLICT, 0, 1000);
    steps_run_once(charge_once);
    rig_expect(0, 0, 1, .runs = 3, .failures = 1, .hits = 9);
    expect_number(steps_stored() + steps_effects("charge"), 0);
}

/* ---- Who lost its claim -------------------------------------------------------------------------------- */

static atomic_bool stolen;

STEP_FN(lose_claim_and_pay) {
    if (!pool_on_sqlite() && !atomic_exchange(&stolen, true)) (void)!rig_steal(tp_run_task(run));
    return steps_pay(run, conn, arg);
}

HANDLER(charge_without_a_claim) {
    /* There nobody writes while a step does. */
    if (pool_on_sqlite() && !atomic_exchange(&stolen, true)) (void)!rig_steal(tp_run_task(run));
    atomic_fetch_add(&rig.runs, 1);
    (void)steps_do(run, 0, "charge", lose_claim_and_pay);
    steps.answers[1] = tp_run_step(run, "mail", steps_pay, NULL, NULL);
    steps.answers[2] = (tp_status)tp_run_lost(run);
    return TP_RUN_DONE;
}

/* The task is another's: what a stale worker wrote in a step is not there, and the next one pays. */
TEST(test_step__of_a_worker_whose_claim_was_lost_is_not_recorded) {
    atomic_store(&stolen, false);
    rig_finish_at(TP_EVENT_LOST, 1, rig_open_by(&STEPS_OPTIONS(.drain = 0), charge_without_a_claim));
    rig_expect(1, 0, 0, .runs = 1, .lost = 1);
    expect(TP_LOST, steps.answers[0]);
    expect(TP_LOST, steps.answers[1]);
    expect_number(steps.answers[2], 1);
    expect_number(steps_effects("charge") + steps_effects("mail") + steps_stored(), 0);
    must(rig_advance(pool.eye, 3700000));
    steps_run(0, steps_charge_and_mail);
    rig_expect(0, 1, 0);
    expect_steps(2);
}

/* ---- Who dies ------------------------------------------------------------------------------------------ */

MEET(die) {
    raise(SIGKILL);
}

HANDLER(charge_and_die) {
    faults_at(.skip = *(int *)arg - 1, .times = 1, .meet = die);
    return steps_charge_and_mail(run, arg);
}

/* Dies before call number n that its step makes from the handler's begin on. */
ROLE(step_and_die) {
    tp_worker *worker = NULL;
    tp_worker_options options = TP_WORKER_INIT;
    int n = (int)strtol(arguments[1], NULL, 10);
    faults_open();
    options.plan = tp_conn_about(pool.a)->leased_plan;
    bool good = tp_worker_open(pool.env, &options, &worker) == TP_OK &&
                tp_worker_handle(worker, pool.handler, charge_and_die, &n) == TP_OK &&
                tp_worker_step(worker, NULL) == TP_OK;
    faults_clear();
    tp_worker_close(worker);
    return good ? 0 : 1;
}

static bool dies_at(int n) {
    char number[16];
    snprintf(number, sizeof number, "%d", n);
    struct child child = child_start("step_and_die", pool.handler, number, NULL);
    int code = child_status(&child);
    sure(code == 0 || code == -1, "the child ended with %d", code);
    return code == -1;
}

/* At every call to the database, from the first step on until the task is settled; at a server, unless the
 * program has an argument, at one in four, others at each. */
TEST(test_step__is_done_once_whichever_call_the_process_dies_at) {
    bool all = rig.argument || pool_on_sqlite();
    int n = all ? 1 : 1 + (int)strlen(pool.entry) % 4;
    for (bool died = true; died; n += all ? 1 : 4) {
        must((tp_status)pool_fresh(NULL));
        rig_put(1, "x");
        rig_set_due(1);
        died = dies_at(n);
        must(rig_advance(pool.eye, RIG_LEASE_OVER_MS));
        if (died) steps_run(0, steps_charge_and_mail);
        expect_number(rig_count("finished"), 1);
        expect_number(steps_effects("charge"), 1);
        expect_number(steps_effects("mail"), 1);
        expect_number(steps_stored(), 2);
    }
    assert_in_range(n, 10, 40);
}
