/* What a handler gives back, and how far it says that it is: a task that is done has the result of the call
 * that did it, whatever is lost and by every plan; and its progress is seen while it runs, and holds up
 * nobody. */
#include "worker/rig.h"

#include <signal.h>

#include "base/ended.h"
#include "ops/for_workers.h"
#include "support/child.h"
#include "worker/progress_writer.h"

/* ---- The result ---------------------------------------------------------------------------------------- */

HANDLER(give_back) {
    char result[64];
    atomic_fetch_add(&rig.runs, 1);
    (void)arg;
    snprintf(result, sizeof result, "result of %s", tp_run_task(run)->id);
    return tp_run_result(run, "overwritten") == TP_OK && tp_run_result(run, result) == TP_OK ? TP_RUN_DONE
                                                                                             : TP_RUN_FAILED;
}

HANDLER(give_back_and_pay) {
    return give_back(run, arg) == TP_RUN_DONE ? rig_effect(run, TP_RUN_DONE) : TP_RUN_FAILED;
}

static int with_results(void) {
    return rig_count_where("finished", "state = 'done' AND result IS NOT NULL");
}

static void see_results(void) {
    tp_list_request request = TP_LIST_INIT;
    tp_batch *batch = NULL, *one = NULL;
    char wanted[64];
    request.pool = "finished";
    request.handler = pool.handler;
    request.limit = 1000;
    must(tp_list(pool.eye, &request, &batch));
    for (size_t i = 0; i < tp_batch_count(batch); i++) {
        const char *id = tp_batch_task(batch, i)->id;
        must(tp_show(pool.eye, id, &one));
        snprintf(wanted, sizeof wanted, "result of %s", id);
        assert_string_equal(tp_batch_task(one, 0)->result, wanted);
        tp_batch_free(one);
    }
    tp_batch_free(batch);
}

/* One call in six of those that make something durable gets no answer. */
TEST(test_result__is_stored_by_every_plan_whatever_answer_is_lost) {
    enum { TASKS = 30 };
    static const tp_handler_fn handlers[] = {give_back, give_back_and_pay};
    for (size_t i = 0; i < 2 * (size_t)PLANS; i++) {
        const char *plan = pool_plans[i / 2];
        if (!pool_plan_possible(plan)) continue;
        must((tp_status)pool_fresh(NULL));
        faults_clear();
        faults_at(.statement = "commit", .fault = TPI_FAULT_ANSWER_LOST, .skip = 3, .times = 5, .one_in = 2);
        faults_at(.statement = "result_set", .fault = TPI_FAULT_NOT_SENT, .skip = 2, .times = 2);
        tp_worker_options options = RIG_OPTIONS(.plan = plan);
        rig_finish(rig_start_by(TASKS, &options, handlers[i % 2]));
        faults_clear();
        expect_number(rig_count_state("finished", "done"), TASKS);
        expect_number(with_results(), TASKS);
        see_results();
    }
}

/* ---- Who waits for it ---------------------------------------------------------------------------------- */

HANDLER(do_as_params_say) {
    const char *params = tp_run_task(run)->params;
    (void)arg;
    if (strcmp(params, "give up") == 0) return rig_fail_for_good(run, NULL);
    if (strcmp(params, "retry") == 0) return TP_RUN_FAILED;
    return strcmp(params, "skip") == 0 ? TP_RUN_SKIPPED : rig_pay(run, NULL);
}

/* Of one that waits for a retry nobody is told: it would cost a poll. */
TEST(test_result__who_waits_for_it_in_the_workers_process_is_told_of_the_end) {
    static const char *const params[] = {"do", "skip", "give up", "retry"};
    enum { TASKS = sizeof params / sizeof params[0], RETRY = TASKS - 1 };
    static struct tpi_ended ended[TASKS];
    int retries = 0;
    for (int p = 0; p < PLANS; p++) {
        if (!pool_plan_possible(pool_plans[p])) continue;
        must((tp_status)pool_fresh(NULL));
        for (int i = 0; i < TASKS; i++) {
            tp_new_task task = {.size = sizeof task, .handler = pool.handler, .params = params[i]};
            must(tp_enqueue(pool.a, &task));
            tpi_ended_add(&ended[i], task.id);
        }
        tp_worker *worker =
            rig_start_with(0, do_as_params_say, .plan = pool_plans[p], .retry = RIG_DELAYS(3600000));
        rig_await(TP_EVENT_RETRY, ++retries);
        for (int i = 0; i < RETRY; i++)
            assert_true(tpi_ended_wait(&ended[i], 120000));
        rig_stop(worker);
        assert_false(tpi_ended_wait(&ended[RETRY], 0));
        for (int i = 0; i < TASKS; i++)
            tpi_ended_remove(&ended[i]);
    }
}

HANDLER(give_back_and_fail_first) {
    if (give_back(run, arg) != TP_RUN_DONE) return TP_RUN_SKIPPED;
    if (atomic_load(&rig.runs) == 1) return TP_RUN_FAILED;
    return tp_run_result(run, atomic_load(&rig.runs) == 2 ? NULL : "never") == TP_OK ? TP_RUN_DONE
                                                                                     : TP_RUN_SKIPPED;
}

TEST(test_result__of_a_call_that_failed_is_thrown_away) {
    rig_run(1, give_back_and_fail_first);
    rig_expect(0, 1, 0, .runs = 2);
    expect_number(rig_count_state("finished", "done"), 1);
    expect_number(with_results(), 0);
}

HANDLER(give_back_and_skip) {
    (void)give_back(run, arg);
    return TP_RUN_SKIPPED;
}

TEST(test_result__of_one_that_is_skipped_is_thrown_away) {
    rig_run(1, give_back_and_skip);
    rig_expect(0, 1, 0, .skipped = 1);
    expect_number(rig_count_where("finished", "result IS NOT NULL"), 0);
}

/* The transaction of the first call is lost, and the second gives nothing back. */
HANDLER(give_back_once_and_pay) {
    if (atomic_fetch_add(&rig.runs, 1) == 0 && tp_run_result(run, "of the first call") != TP_OK)
        return TP_RUN_SKIPPED;
    return rig_effect(run, TP_RUN_DONE);
}

TEST(test_result__is_that_of_the_call_whose_effects_are_stored) {
    faults_refuse("move_finished", FAULTS_CONFLICT, 0, 1);
    rig_run(1, give_back_once_and_pay);
    rig_expect_paid(1, .runs = 2);
    expect_number(with_results(), 0);
}

HANDLER(give_back_too_much) {
    static char text[TP_PARAMS_MAX + 2];
    memset(text, 'x', sizeof text - 1);
    (void)arg;
    bool right = tp_run_result(run, "kept") == TP_OK && tp_run_result(run, text) == TP_TOOBIG &&
                 tp_run_result(run, "\xff") == TP_MISUSE;
    return right ? TP_RUN_DONE : TP_RUN_FAILED;
}

TEST(test_result__that_cannot_be_stored_is_refused_and_the_last_stays) {
    char result[SQL_CELL];
    rig_run(1, give_back_too_much);
    rig_expect(0, 1, 0, .failures = 0);
    sql_text(pool.eye, result, sizeof result, "SELECT result FROM tp_finished WHERE handler = '%s'",
             pool.handler);
    assert_string_equal(result, "kept");
}

MEET(die) {
    raise(SIGKILL);
}

HANDLER(give_back_and_die) {
    faults_at(.skip = *(int *)arg - 1, .times = 1, .meet = die);
    return give_back_and_pay(run, NULL);
}

/* Dies before call number n that the settle makes. */
ROLE(give_back_and_die_at) {
    tp_worker *worker = NULL;
    tp_worker_options options = TP_WORKER_INIT;
    int n = (int)strtol(arguments[1], NULL, 10);
    faults_open();
    bool good = tp_worker_open(pool.env, &options, &worker) == TP_OK &&
                tp_worker_handle(worker, pool.handler, give_back_and_die, &n) == TP_OK &&
                tp_worker_step(worker, NULL) == TP_OK;
    faults_clear();
    tp_worker_close(worker);
    return good ? 0 : 1;
}

/* Between any two calls: the next worker gives the task its result, or it has it. */
TEST(test_result__is_there_with_the_task_whichever_call_the_process_dies_at) {
    for (int n = 1 + (int)strlen(pool.entry) % 3;; n += 3) {
        char number[16];
        must((tp_status)pool_fresh(NULL));
        rig_put(1, "x");
        rig_set_due(1);
        snprintf(number, sizeof number, "%d", n);
        struct child child = child_start("give_back_and_die_at", pool.handler, number, NULL);
        bool died = child_status(&child) == -1;
        must(rig_advance(pool.eye, RIG_LEASE_OVER_MS));
        if (died) rig_run(0, give_back_and_pay);
        rig_expect(0, 1, 0, .effects = 1);
        see_results();
        expect_number(with_results(), 1);
        if (!died) break;
        assert_true(n < 60);
    }
}

/* ---- Progress ------------------------------------------------------------------------------------------ */

static struct tp_progress_seen {
    int count, percent;
    char message[TP_REASON_MAX + 1];
} seen;

static void see(const tp_progress *progress, void *arg) {
    (void)arg;
    seen.count++;
    seen.percent = progress->percent;
    snprintf(seen.message, sizeof seen.message, "%s", progress->message);
}

/* Until the only task of the test says so. */
static void await_progress(int percent) {
    for (int i = 0; i < 30000; i++) {
        tp_list_request request = TP_LIST_INIT;
        tp_batch *batch = NULL;
        request.handler = pool.handler;
        must(tp_list(pool.eye, &request, &batch));
        seen.count = 0;
        tp_status status = tp_progress_of(pool.eye, tp_batch_task(batch, 0), see, NULL);
        tp_batch_free(batch);
        if (status == TP_OK && seen.percent == percent) return;
        rig_pause_10_ms();
    }
    fail_msg("no progress of %d %%", percent);
}

static int progress_rows(void) {
    return (int)sql_number(pool.eye, "SELECT COUNT(*) FROM tp_progress");
}

HANDLER(tell_and_wait) {
    (void)arg;
    tp_run_progress(run, 250, "too much");
    tp_run_progress(run, 42, "rows 1 to \xff");
    gate_pass(&rig.gate);
    return TP_RUN_DONE;
}

HANDLER(take_conn_tell_and_wait) {
    tp_conn *conn = NULL;
    if (tp_run_conn(run, &conn) != TP_OK) return TP_RUN_FAILED;
    return tell_and_wait(run, arg);
}

/* Before anything is committed, and without a lock on the task. */
TEST(test_progress__is_seen_while_the_task_runs_by_every_plan) {
    static const tp_handler_fn handlers[] = {tell_and_wait, take_conn_tell_and_wait};
    bool alone = pool_on_sqlite();
    for (size_t i = 0; i < 2 * (size_t)PLANS; i++) {
        const char *plan = pool_plans[i / 2];
        if (!pool_plan_possible(plan)) continue;
        if (alone && (i % 2 || pool_plan_holds(plan))) continue; /* nothing can be written meanwhile */
        gate_init(&rig.gate);
        must((tp_status)pool_fresh(NULL));
        tp_worker_options options = RIG_OPTIONS(.plan = plan);
        tp_worker *worker = rig_start_by(1, &options, handlers[i % 2]);
        await_progress(42);
        assert_string_equal(seen.message, "rows 1 to ?");
        rig_let_finish(worker);
        expect_number(progress_rows(), 0);
        expect_number(rig_count_state("finished", "done"), 1);
    }
}

/* Nothing is written where a transaction keeps all others from writing; the handler does not wait for it. */
TEST(test_progress__holds_up_no_handler_that_has_the_transaction) {
    gate_open(&rig.gate);
    rig_run(3, take_conn_tell_and_wait);
    rig_expect(0, 3, 0, .failures = 0);
    expect_number(progress_rows(), 0);
}

static size_t added; /* an aim: the first write */

HANDLER(tell_often) {
    (void)arg;
    tp_run_progress(run, 0, "x");
    for (int i = 0; i < 30000 && faults_seen(added) < 1; i++)
        rig_pause_10_ms();
    for (int i = 1; i <= 20; i++) {
        tp_run_progress(run, i, "x");
        rig_pause_10_ms();
    }
    return TP_RUN_DONE;
}

/* What is said after the first write waits until its time has come, which here it never does. */
TEST(test_progress__is_written_once_a_second_at_most) {
    int64_t before_ms = tpi_progress_every_ms;
    tpi_progress_every_ms = 3600000;
    size_t written = faults_count("progress_set");
    added = faults_count("progress_add");
    rig_run_with(1, tell_often, .plan = tp_conn_about(pool.a)->leased_plan);
    expect_number(faults_seen(written), 1);
    expect_number(faults_seen(added), 1);
    expect_number(progress_rows(), 0);
    tpi_progress_every_ms = before_ms;
}

/* A handler without progress costs nothing: no statement, no connection. */
TEST(test_progress__that_is_not_told_costs_nothing) {
    size_t ended = faults_count("progress_end"), written = faults_count("progress_set");
    rig_run(5, rig_done);
    expect_number(faults_seen(ended) + faults_seen(written), 0);
}

/* The database cannot write it, for whatever reason: the tasks are done all the same. */
TEST(test_progress__that_cannot_be_written_fails_no_task) {
    faults_refuse("progress_set", FAULTS_NO_TABLE, 0, 1000000);
    gate_open(&rig.gate);
    rig_run(5, tell_and_wait);
    rig_expect(0, 5, 0, .failures = 0, .done = 5);
}

/* Somebody has locked the table's rows: neither handlers nor settles wait for that. */
TEST(test_progress__that_waits_for_a_lock_holds_up_nobody) {
    if (tpi_conn_writes_alone(pool.a) || pool_on_sqlite()) skip();
    int64_t before_ms = tpi_progress_every_ms;
    tpi_progress_every_ms = 1;
    tp_worker *worker = rig_start_with(1, tell_and_wait, .plan = tp_conn_about(pool.a)->leased_plan);
    await_progress(42);
    must(tp_begin(pool.b));
    sql_run(pool.b, "UPDATE tp_progress SET percent = 43");
    gate_open(&rig.gate);
    rig_await(TP_EVENT_DONE, 1);
    rig_put(2, "x");
    rig_await(TP_EVENT_DONE, 3);
    must(tp_rollback(pool.b));
    rig_stop(worker);
    rig_expect(0, 3, 0);
    expect_number(progress_rows(), 0);
    tpi_progress_every_ms = before_ms;
}

static int64_t rows_inside;

HANDLER(tell_and_count) {
    (void)arg;
    tp_run_progress(run, 42, "step");
    return sql_try_number(pool.eye, &rows_inside, "SELECT COUNT(*) FROM tp_progress WHERE percent = 42")
               ? TP_RUN_DONE
               : TP_RUN_FAILED;
}

/* Without threads, too. */
TEST(test_progress__is_written_in_a_step) {
    rows_inside = -1;
    rig_put(1, "x");
    rig_set_due(1);
    tp_worker *worker = rig_open_with(tell_and_count, .plan = tp_conn_about(pool.a)->leased_plan);
    rig_step(worker, 1);
    expect_number(rows_inside, 1);
    expect_number(progress_rows(), 0);
    rig_close(worker);
}
