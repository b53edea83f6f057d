/* What a step must not do, what its failures do, and that steps go with their task. */
#include "worker/steps.h"

/* ---- Failures ------------------------------------------------------------------------------------------ */

static tp_status refusal;

STEP_FN(refuse) {
    return steps_pay(run, conn, arg) == TP_OK ? refusal : TP_DB;
}

HANDLER(charge_refused) {
    return steps_do(run, 0, "charge", refuse) ? TP_RUN_DONE : TP_RUN_FAILED;
}

static void run_refused(tp_status answer) {
    refusal = answer;
    steps_run_once(charge_refused);
    expect_number(atomic_load(&steps.calls), 1);
    expect_number(steps_effects("charge") + steps_stored(), 0);
}

TEST(test_step__that_fails_leaves_nothing_and_its_failure_is_the_tasks) {
    run_refused(TP_TOOBIG);
    expect(TP_TOOBIG, steps.answers[0]);
    rig_expect(0, 0, 1, .failures = 1);
    rig_expect_told(TP_EVENT_GAVE_UP, "step charge: its function answered toobig");
    assert_string_equal(steps.results[0], "untouched");
    run_refused(TP_EXISTS);
    expect(TP_MISUSE, steps.answers[0]);
    rig_expect_told(TP_EVENT_GAVE_UP, "its function answered 2");
}

STEP_FN(begin_another) {
    (void)!tp_run_step(run, "inner", steps_pay, (void *)(uintptr_t) "inner", NULL);
    return steps_pay(run, conn, arg);
}

STEP_FN(ask_for_the_connection) {
    tp_conn *other = NULL;
    (void)!tp_run_conn(run, &other);
    return steps_pay(run, conn, arg);
}

STEP_FN(answer_too_much) {
    char *text = calloc(1, TP_PARAMS_MAX + 2);
    if (!text) return TP_NOMEM;
    memset(text, 'x', TP_PARAMS_MAX + 1);
    (void)!tp_run_step_result(run, text);
    free(text);
    return TP_OK;
}

STEP_FN(answer_no_text) {
    (void)!tp_run_step_result(run, "\xff");
    return TP_OK;
}

static const struct {
    tp_step_fn fn;
    const char *words;
    tp_status answer;
} wrong[] = {{begin_another, "not in a step", TP_MISUSE},
             {ask_for_the_connection, "not in a step", TP_MISUSE},
             {answer_too_much, "bytes", TP_TOOBIG},
             {answer_no_text, "UTF-8", TP_MISUSE}};
static size_t wrong_at;

HANDLER(charge_wrongly) {
    return steps_do(run, 0, "charge", wrong[wrong_at].fn) ? TP_RUN_DONE : TP_RUN_FAILED;
}

/* Also when the step's function does not look at what it was told. */
TEST(test_step__that_does_what_it_must_not_is_not_recorded) {
    for (wrong_at = 0; wrong_at < COUNT(wrong); wrong_at++) {
        steps_run_once(charge_wrongly);
        expect(wrong[wrong_at].answer, steps.answers[0]);
        rig_expect(0, 0, (int)wrong_at + 1);
        rig_expect_told(TP_EVENT_GAVE_UP, wrong[wrong_at].words);
    }
    expect_number(steps_effects("charge") + steps_effects("inner"), 0);
}

STEP_FN(try_to_end_it) {
    steps.answers[1] = tp_commit(conn);
    steps.answers[2] = tp_rollback(conn);
    steps.answers[3] = tp_conn_reopen(conn);
    return steps_pay(run, conn, arg);
}

HANDLER(charge_and_try_to_end_it) {
    return steps_do(run, 0, "charge", try_to_end_it) ? TP_RUN_DONE : TP_RUN_FAILED;
}

TEST(test_step__cannot_end_its_transaction) {
    steps_run(1, charge_and_try_to_end_it);
    rig_expect(0, 1, 0, .failures = 0);
    for (int i = 1; i < 4; i++)
        expect(TP_MISUSE, steps.answers[i]);
    expect_number(steps_effects("charge"), 1);
}

/* ---- Misuse -------------------------------------------------------------------------------------------- */

HANDLER(charge_after_the_connection) {
    tp_conn *conn = NULL;
    if (tp_run_conn(run, &conn) != TP_OK) return TP_RUN_FAILED;
    (void)steps_do(run, 0, "charge", steps_pay);
    return TP_RUN_DONE;
}

TEST(test_step__after_the_tasks_connection_is_misuse) {
    steps_run(1, charge_after_the_connection);
    expect(TP_MISUSE, steps.answers[0]);
    rig_expect(0, 1, 0);
    expect_number(atomic_load(&steps.calls), 0);
}

static tp_status asked[9];

HANDLER(ask_wrongly) {
    char name[TP_STEP_NAME_MAX + 2] = "";
    memset(name, 'n', TP_STEP_NAME_MAX + 1);
    asked[0] = tp_run_step(NULL, "charge", steps_pay, NULL, NULL);
    asked[1] = tp_run_step(run, "charge", NULL, NULL, NULL);
    asked[2] = tp_run_step(run, NULL, steps_pay, NULL, NULL);
    asked[3] = tp_run_step(run, "", steps_pay, NULL, NULL);
    asked[4] = tp_run_step(run, "no blanks", steps_pay, NULL, NULL);
    asked[5] = tp_run_step(run, name, steps_pay, NULL, NULL);
    asked[6] = tp_run_step_result(run, "outside");
    name[TP_STEP_NAME_MAX] = '\0';
    asked[7] = tp_run_step(run, name, steps_answer_nothing, NULL, NULL);
    asked[8] = TP_OK;
    for (int i = 0; i < TP_STEPS_MAX && asked[8] == TP_OK; i++)
        asked[8] = tp_run_step(run, name, steps_answer_nothing, NULL, NULL);
    return TP_RUN_DONE;
}

TEST(test_step__arguments_are_checked) {
    steps_run(1, ask_wrongly);
    for (int i = 0; i < 5; i++)
        expect(TP_MISUSE, asked[i]);
    expect(TP_TOOBIG, asked[5]);
    expect(TP_MISUSE, asked[6]);
    must(asked[7]);
    expect(TP_TOOBIG, asked[8]);
    expect_number(atomic_load(&steps.calls), 1);
    rig_expect(0, 1, 0);
}

TEST(test_step__by_plan_hold_is_unsupported) {
    rig_needs_hold();
    atomic_store(&steps.calls, 0);
    rig_run_with(1, steps_charge_and_mail, .plan = "hold", .retry = &rig_no_retries);
    expect(TP_UNSUPPORTED, steps.answers[0]);
    rig_expect(0, 0, 1);
    rig_expect_told(TP_EVENT_GAVE_UP, "by plan hold");
    expect_number(atomic_load(&steps.calls), 0);
}

/* ---- With their task ----------------------------------------------------------------------------------- */

static void purge(const char *from) {
    tp_selection selection = TP_SELECTION_INIT;
    tp_operated result = TP_OPERATED_INIT;
    selection.pool = from;
    selection.handler = pool.handler;
    selection.who = "steps";
    must(tp_operate(pool.eye, TP_ACTION_PURGE, &selection, &result));
    expect_number(result.done, 1);
}

TEST(test_step__goes_when_its_task_is_purged) {
    int others = steps_all_stored();
    steps_run(1, steps_charge_and_mail);
    expect_number(steps_all_stored(), others + 2);
    purge("finished");
    expect_number(steps_all_stored(), others);
}

/* Retried by a person, the task has its steps still. */
TEST(test_step__outlives_the_failed_pool_and_goes_when_that_is_purged) {
    int others = steps_all_stored();
    faults_refuse_at(steps_commit(), FAULTS_PERMANENT, 1, 1000); /* the second */
    steps_run_once(steps_charge_and_mail);
    faults_clear();
    rig_expect(0, 0, 1);
    expect_number(steps_all_stored(), others + 1);
    tp_selection selection = TP_SELECTION_INIT;
    tp_operated result = TP_OPERATED_INIT;
    selection.handler = pool.handler;
    selection.who = "steps";
    must(tp_operate(pool.eye, TP_ACTION_RETRY, &selection, &result));
    steps_run(0, steps_charge_and_mail);
    rig_expect(0, 1, 0);
    assert_string_equal(steps.results[0], "charge 0");
    expect_steps(1);
}

TEST(test_step__goes_when_its_business_row_is_erased_and_when_it_is_too_old) {
    int others = steps_all_stored();
    int64_t before = 0;
    rig_put_one(.biz_key = "order 7");
    steps_run(1, steps_charge_and_mail);
    expect_number(steps_all_stored(), others + 4);
    tp_erased erased = TP_ERASED_INIT;
    must(tp_erase(pool.eye, "order 7", "steps", "asked for", 0, &erased));
    expect_number(erased.finished, 1);
    expect_number(steps_all_stored(), others + 2);
    must(tp_retention_get(pool.eye, "finished", &before));
    must(tp_retention_set(pool.eye, "finished", 1000, "steps"));
    must(rig_advance(pool.eye, 60000));
    must(tp_retention_apply(pool.eye, 1000, NULL));
    must(tp_retention_set(pool.eye, "finished", before, "steps"));
    expect_number(steps_all_stored(), 0);
}

static int64_t orphans;

static void see_steps(const tp_finding *finding, void *arg) {
    (void)arg;
    if (strcmp(finding->name, "steps") == 0) orphans = finding->count;
}

/* By a taskpool that knows no steps: then who puts a task in under the same id gets a new one. */
TEST(test_step__of_a_task_that_is_gone_is_none_of_the_next_with_its_id) {
    tp_new_task task = TP_NEW_TASK_INIT;
    task.handler = pool.handler;
    must(tp_enqueue(pool.a, &task));
    steps_run(0, steps_charge_and_mail);
    sql_run(pool.eye, "DELETE FROM tp_finished WHERE handler = '%s'", pool.handler);
    must(tp_check(pool.eye, see_steps, NULL, NULL));
    expect_number(orphans, 2);
    must(rig_advance(pool.eye, 5));
    must(tp_enqueue(pool.a, &task));
    steps_run(0, steps_charge_and_mail);
    expect_number(atomic_load(&steps.calls), 2);
    expect_number(steps_effects("charge"), 2);
    purge("finished");
    must(tp_check(pool.eye, see_steps, NULL, NULL));
    expect_number(orphans, 0);
}

/* Two at once: of the purge, and of who has put a task in anew meanwhile. */
TEST(test_step__of_a_task_that_is_there_again_is_not_purged) {
    steps_run(1, steps_charge_and_mail);
    sql_run(pool.eye,
            "INSERT INTO tp_pending (id, handler, shard, priority, state, failures, due_at, created_at, "
            "modified_at) SELECT id, handler, shard, priority, 'pending', 0, due_at, created_at, "
            "modified_at FROM tp_finished WHERE handler = '%s'",
            pool.handler);
    int before = steps_all_stored();
    purge("finished");
    expect_number(steps_all_stored(), before);
    steps_run(0, steps_charge_and_mail);
    expect_number(atomic_load(&steps.calls), 0);
}

/* ---- Tables of before ---------------------------------------------------------------------------------- */

static bool took_table_away;

HANDLER(charge_without_tables) {
    if (!took_table_away) took_table_away = sql_try(pool.eye, "DROP TABLE tp_step");
    return steps_charge_and_mail(run, arg);
}

TEST(test_step__without_its_table_says_so) {
    took_table_away = false;
    steps_run_once(charge_without_tables);
    expect(TP_SCHEMA, steps.answers[0]);
    rig_expect(0, 0, 1);
    rig_expect_told(TP_EVENT_GAVE_UP, "taskpool schema install");
    expect_number(atomic_load(&steps.calls), 0);
    pool_install();
}
