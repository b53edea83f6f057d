/* Tasks that are cancelled while a worker has them: the handler is told, by every plan, and what becomes of
 * the task follows from its verdict; whatever kills the worker, the task is not run again. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "support/child.h"
#include "support/tasks.h"
#include "worker/canceller.h"
#include "worker/rig.h"

enum { VERDICTS = TP_RUN_LATER + 1, SOON_MS = 20 };

/* ---- What it costs ------------------------------------------------------------------------------------- */

TEST(test_cancel__a_worker_whose_tasks_are_short_never_looks) {
    enum { TRIES = 20 };
    size_t looks = faults_count("cancel_among"), due = faults_count("cancel_due");
    int looked = 1, asked = 2;
    /* On a busy machine one may last for a second, but not each time. */
    for (int tries = 1; tries <= TRIES && (looked || asked > 1 /* maintenance, once */); tries++) {
        int looks_before = faults_seen(looks), due_before = faults_seen(due);
        rig_run(20, rig_done);
        rig_expect(0, 20 * tries, 0);
        looked = faults_seen(looks) - looks_before;
        asked = faults_seen(due) - due_before;
    }
    expect_number(looked, 0);
    assert_in_range(asked, 0, 1);
}

/* ---- What is told ---------------------------------------------------------------------------------------
 */

static struct seen {
    char ids[VERDICTS][TP_ID_SIZE];
    char texts[VERDICTS][TP_REASON_MAX + 1];
    atomic_int told[VERDICTS]; /* tp_stop */
} seen;

static void look_often(bool often) {
    tpi_canceller_every_ms = often ? SOON_MS : 1000;
}

static tp_stop wait_until_told(const tp_run *run, const char **text) {
    tp_stop cause = TP_STOP_NONE;
    for (int i = 0; cause == TP_STOP_NONE && i < 30000; i++) {
        rig_pause_10_ms();
        cause = tp_run_stop_cause(run, text);
    }
    return cause;
}

/* Params: the verdict. Written after it was told: where one may write, nobody could ask beside it. */
static tp_verdict heed(tp_run *run, void *arg) {
    const char *text = "";
    int verdict = tp_run_task(run)->params[0] - '0';
    (void)arg;
    atomic_fetch_add(&rig.runs, 1);
    tp_stop cause = wait_until_told(run, &text);
    snprintf(seen.texts[verdict], sizeof seen.texts[verdict], "%s", text);
    atomic_store(&seen.told[verdict], (int)cause);
    if (!tp_run_should_stop(run)) return TP_RUN_FAILED;
    return rig_effect(run, (tp_verdict)verdict);
}

static void put_verdicts(void) {
    memset(&seen, 0, sizeof seen);
    for (int i = 0; i < VERDICTS; i++) {
        char params[2] = {(char)('0' + i), '\0'};
        tp_new_task task = {.size = sizeof task, .handler = pool.handler, .params = params};
        must(tp_enqueue(pool.a, &task));
        memcpy(seen.ids[i], task.id, TP_ID_SIZE);
    }
}

static void await_runs(int count) {
    for (int i = 0; atomic_load(&rig.runs) < count && i < 30000; i++)
        rig_pause_10_ms();
    expect_number(atomic_load(&rig.runs), count);
}

/* Gives the answer, which is what is known last: by then who was asked may have ended it. */
static tp_cancel_answer answer_to_cancel(const char *id) {
    tp_cancelled answer = TP_CANCELLED_INIT;
    must(tp_cancel(pool.b, id, "ann", "wrong amount", &answer));
    return answer.answer;
}

static void cancel_it(const char *id) {
    expect_number(answer_to_cancel(id), TP_CANCEL_ASKED);
}

static int effects_of_task(int i) {
    return (int)sql_number(pool.eye, "SELECT COUNT(*) FROM tp_fx WHERE task_id = '%s'", seen.ids[i]);
}

/* Done is done; skipped by the handler keeps what it wrote; failed and put back do not. */
static void expect_heeded(void) {
    static const int kept[VERDICTS] = {[TP_RUN_DONE] = 1, [TP_RUN_SKIPPED] = 1};
    rig_expect(0, VERDICTS, 0, .runs = VERDICTS, .failures = 0, .done = 1);
    for (int i = 0; i < VERDICTS; i++) {
        bool done = i == TP_RUN_DONE;
        expect_number(atomic_load(&seen.told[i]), TP_STOP_CANCELLED);
        assert_string_equal(seen.texts[i], "cancelled by ann: wrong amount");
        expect_row(seen.ids[i], "finished", done ? "done" : "skipped", 0);
        if (!done) assert_true(strstr(row_of(seen.ids[i]).reason, "cancelled by ann: wrong amount") != NULL);
        expect_number(effects_of_task(i), kept[i]);
        expect_number(
            sql_number(pool.eye,
                       "SELECT COUNT(*) FROM tp_history WHERE task_id = '%s' AND event = 'canceled'",
                       seen.ids[i]),
            !done);
    }
    expect_number(sql_number(pool.eye, "SELECT COUNT(*) FROM tp_cancel"), 0);
}

static void heed_by(const char *plan) {
    look_often(true);
    put_verdicts();
    atomic_store(&rig.runs, 0);
    tp_worker *worker = rig_start_with(0, heed, .plan = plan, .threads = VERDICTS);
    await_runs(VERDICTS);
    for (int i = 0; i < VERDICTS; i++) {
        tp_cancel_answer answer = answer_to_cancel(seen.ids[i]);
        assert_true(answer == TP_CANCEL_ASKED ||
                    answer == (i == TP_RUN_DONE ? TP_CANCEL_LATE : TP_CANCEL_SKIPPED));
    }
    for (int i = 0; rig_count("finished") < VERDICTS && i < 30000; i++)
        rig_pause_10_ms();
    rig_stop(worker);
    look_often(false);
    expect_heeded();
}

static void heed_by_lease(const char *plan) {
    if (!pool_plan_possible(plan)) skip();
    heed_by(plan);
}

TEST(test_cancel__a_handler_is_told_and_decides_by_plan_row) {
    heed_by_lease("row");
}

TEST(test_cancel__a_handler_is_told_and_decides_by_plan_batch) {
    heed_by_lease("batch");
}

TEST(test_cancel__a_handler_is_told_and_decides_by_plan_skip) {
    heed_by_lease("skip");
}

TEST(test_cancel__a_handler_is_told_and_decides_by_plan_cas) {
    heed_by_lease("cas");
}

TEST(test_cancel__a_handler_is_told_and_decides_by_plan_hold) {
    rig_needs_hold();
    if (pool_on_sqlite()) skip(); /* while a transaction holds tasks, nobody else can write that he asks */
    heed_by("hold");
}

/* As it is set: a busy machine is late, but not each time. */
TEST(test_cancel__a_handler_is_told_within_two_seconds) {
    enum { LATE_MS = 2000, TRIES = 20 };
    int64_t late = INT64_MAX;
    for (int i = 0; i < TRIES && late > LATE_MS; i++) {
        put_verdicts();
        sql_run(pool.eye, "DELETE FROM tp_pending WHERE id <> '%s'", seen.ids[TP_RUN_SKIPPED]);
        atomic_store(&rig.runs, 0);
        int before = rig_told(TP_EVENT_SKIPPED);
        tp_worker *worker = rig_start_with(0, heed, .threads = 1);
        await_runs(1);
        cancel_it(seen.ids[TP_RUN_SKIPPED]);
        int64_t began = tpi_clock_mono_ms();
        for (int j = 0; j < 30000 && atomic_load(&seen.told[TP_RUN_SKIPPED]) == TP_STOP_NONE; j++)
            rig_pause_10_ms();
        late = tpi_clock_mono_ms() - began;
        rig_await(TP_EVENT_SKIPPED, before + 1);
        rig_stop(worker);
    }
    assert_in_range(late, 0, LATE_MS);
}

/* ---- Before its handler is called ---------------------------------------------------------------------- */

TEST(test_cancel__one_that_waits_in_the_queue_is_not_run) {
    char ids[2][TP_ID_SIZE];
    size_t at_a_time = tpi_canceller_at_a_time;
    look_often(true);
    tpi_canceller_at_a_time = 1; /* it is not among the first that are looked at */
    for (int i = 0; i < 2; i++) {
        tp_new_task task = {.size = sizeof task, .handler = pool.handler, .priority = i};
        must(tp_enqueue(pool.a, &task));
        memcpy(ids[i], task.id, TP_ID_SIZE);
    }
    tp_worker *worker = rig_start_with(0, rig_wait, .threads = 1, .queue = 5);
    rig_await_arrived(1);
    rig_await_queued(worker, 1);
    cancel_it(ids[1]);
    rig_await_unwanted(worker, 1);
    gate_open(&rig.gate);
    rig_await(TP_EVENT_DONE, 1);
    rig_await(TP_EVENT_SKIPPED, 1);
    rig_stop(worker);
    look_often(false);
    tpi_canceller_at_a_time = at_a_time;
    expect_row(ids[0], "finished", "done", 0);
    expect_row(ids[1], "finished", "skipped", 0);
    assert_string_equal(row_of(ids[1]).reason, "cancelled by ann: wrong amount");
    expect_number(atomic_load(&rig.runs), 1);
}

/* ---- What dies ----------------------------------------------------------------------------------------- */

static tp_verdict say_and_wait(tp_run *run, void *arg) {
    const char *why = "";
    (void)arg;
    child_say("%s", tp_run_task(run)->id);
    child_wait_for_go();
    if (tp_run_stop_cause(run, &why) == TP_STOP_CANCELLED) return TP_RUN_SKIPPED;
    return TP_RUN_DONE;
}

ROLE(cancelled_worker) {
    tp_worker_options o = {.size = sizeof o, .poll_ms = 20, .drain = 1};
    tp_worker *worker = NULL;
    if (tp_worker_open(pool.env, &o, &worker) != TP_OK) return 2;
    if (tp_worker_handle(worker, pool.handler, say_and_wait, NULL) != TP_OK) return 2;
    if (tp_worker_start(worker) != TP_OK || tp_worker_join(worker) != TP_OK) return 2;
    tp_worker_close(worker);
    return 0;
}

TEST(test_cancel__a_task_whose_worker_was_killed_is_not_run_again) {
    char id[CHILD_LINE];
    rig_put(1, "x");
    struct child child = child_start("cancelled_worker", pool.handler, NULL);
    assert_true(child_listen(&child, id));
    cancel_it(id);
    child_kill(&child);
    must(rig_advance(pool.a, RIG_LEASE_OVER_MS));
    rig_run(0, rig_done);
    expect_number(atomic_load(&rig.runs), 0);
    expect_row(id, "finished", "skipped", 1);
}

/* ---- One that ends while it is claimed again ------------------------------------------------------------
 */

static struct gate other_gate;

/* The one with short params is the cancelled one. */
HANDLER(fail_or_wait) {
    (void)arg;
    atomic_fetch_add(&rig.runs, 1);
    gate_pass(tp_run_task(run)->params ? &rig.gate : &other_gate);
    return tp_run_task(run)->params ? TP_RUN_FAILED : TP_RUN_DONE;
}

/* The claim has seen that both are called here; before it is taken in, the first fails, too late. */
MEET(end_the_first) {
    (void)link;
    (void)arg;
    gate_open(&rig.gate);
    (void)watch_wait(&rig.watch, TP_EVENT_LOST, 1);
}

/* The lease is so long that no extension comes between its lapse and the claim. */
TEST(test_cancel__one_that_fails_while_its_process_claims_it_again_is_not_run_again) {
    enum { LEASE_MS = 600000 };
    static char params[20001];
    tp_new_task task = {.size = sizeof task, .handler = pool.handler, .params = "x"};
    memset(params, 'p', sizeof params - 1);
    must(tp_enqueue(pool.a, &task));
    rig_put(1, params);
    gate_init(&other_gate);
    rig_look_for_no_cancels(); /* the claim is to be the first to know */
    size_t after_sweep = faults_count("gate_tokens");
    tp_worker *worker = rig_start_with(0, fail_or_wait, .plan = tp_conn_about(pool.a)->leased_plan,
                                       .threads = 2, .lease_ms = LEASE_MS);
    rig_await_arrived(1);
    assert_true(gate_wait_arrived(&other_gate, 1));
    rig_await_seen(after_sweep, 1); /* the next sweep comes in half a minute at the soonest */
    size_t met = faults_at(.statement = "task_params", .times = 1, .meet = end_the_first);
    cancel_it(task.id);
    must(rig_advance(pool.a, LEASE_MS + 30000));
    rig_await(TP_EVENT_SKIPPED, 1);
    gate_open(&other_gate);
    rig_stop(worker);
    expect_number(faults_hits(met), 1);
    rig_expect(0, 2, 0, .runs = 2, .lost = 1, .skipped = 1, .done = 1);
    assert_true(strstr(row_of(task.id).reason, "cancelled by ann: wrong amount") != NULL);
}
