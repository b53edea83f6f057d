/* How far a run is: each claim's in a row of its own, beside the task. */
#include "ops/for_workers.h"
#include "suite.h"

THEME(progress, ONCE);

static struct tpi_progress_row row_for(const tp_task *task, int percent, const char *message) {
    struct tpi_progress_row row = {.percent = percent};
    snprintf(row.task_id, sizeof row.task_id, "%s", task->id);
    snprintf(row.owner, sizeof row.owner, "%s", task->owner);
    snprintf(row.message, sizeof row.message, "%s", message);
    return row;
}

static void write_progress(tp_conn *conn, const tp_task *task, int percent, const char *message) {
    struct tpi_progress_row row = row_for(task, percent, message);
    must(tpi_progress_write(conn, &row));
}

struct seen {
    int count, percent;
    char message[TP_REASON_MAX + 1];
};

static void see(const tp_progress *progress, void *arg) {
    struct seen *seen = arg;
    seen->count++;
    seen->percent = progress->percent;
    snprintf(seen->message, sizeof seen->message, "%s", progress->message);
    assert_true(progress->at > LONG_AGO);
}

static void expect_progress(const char *id, int percent, const char *message) {
    struct seen seen = {0};
    must(tp_progress_of(pool.eye, task_shown(pool.eye, id), see, &seen));
    expect_number(seen.count, 1);
    expect_number(seen.percent, percent);
    assert_string_equal(seen.message, message);
}

static void expect_none(const char *id) {
    struct seen seen = {0};
    expect(TP_NONE, tp_progress_of(pool.eye, task_shown(pool.eye, id), see, &seen));
    expect_number(seen.count, 0);
}

TEST(test_progress__is_the_last_that_was_said) {
    const tp_task *task = put_and_claim(pool.a);
    expect_none(task->id);
    write_progress(pool.b, task, 10, "rows 1 to 100");
    expect_progress(task->id, 10, "rows 1 to 100");
    write_progress(pool.b, task, -1, "\xe2\x82\xac");
    write_progress(pool.b, task, -1, "\xe2\x82\xac"); /* also when nothing changes */
    expect_progress(task->id, -1, "\xe2\x82\xac");
    expect_number(count_of("tp_progress"), 1);
    must(tp_complete(pool.a, task));
    expect_none(task->id);
}

TEST(test_progress__of_a_lost_claim_is_not_shown) {
    const tp_task *stale = put_and_claim(pool.a);
    write_progress(pool.a, stale, 90, "nearly");
    row_make_due(stale->id);
    const tp_task *task = claim_this(pool.b, stale->id);
    expect_none(task->id);
    write_progress(pool.b, task, 5, "begun again");
    write_progress(pool.a, stale, 95, "still at it");
    expect_progress(task->id, 5, "begun again");
    struct tpi_progress_row row = row_for(stale, 0, "");
    must(tpi_progress_end(pool.a, &row));
    expect_progress(task->id, 5, "begun again");
}

/* The transaction that holds the task writes nothing of it, so what another session writes is seen at once.
 */
TEST(test_progress__of_a_held_task_is_that_of_the_last_claim) {
    if (!pool_plan_possible("hold") || tpi_conn_writes_alone(pool.a)) skip();
    const char *id = put_one();
    tp_task killed = {.id = id, .owner = "01900000-0000-7000-8000-000000000000"};
    write_progress(pool.b, &killed, 50, "killed");
    must(tp_begin(pool.a));
    const tp_task *task = tp_batch_task(claim_with(pool.a, .limit = 1, .plan = "hold"), 0);
    write_progress(pool.b, task, 7, "held");
    expect_progress(id, 7, "held");
    must(tp_complete(pool.a, task));
    must(tp_commit(pool.a));
}

static void take_percent(const tp_running *running, void *arg) {
    int *percents = arg;
    percents[running->failures] = running->percent;
}

TEST(test_progress__is_in_the_list_of_what_runs) {
    int percents[2] = {0};
    const tp_task *silent = put_and_claim(pool.a);
    const char *lapsed = put_one();
    claim_and_lapse(pool.b, lapsed);
    const tp_task *task = claim_this(pool.a, lapsed);
    write_progress(pool.b, task, 42, "");
    must(tp_running_each(pool.eye, NULL, take_percent, percents));
    expect_number(percents[silent->failures], -1);
    expect_number(percents[task->failures], 42);
}

/* What was killed leaves it; what was written lately, or is held, stays. */
TEST(test_progress__that_is_left_over_is_forgotten_after_a_day) {
    const tp_task *held = put_and_claim(pool.a), *done = put_and_claim(pool.a);
    write_progress(pool.a, held, 1, "held");
    write_progress(pool.a, done, 2, "killed");
    must(tp_complete(pool.b, done));
    must(tpi_progress_forget(pool.a));
    expect_number(count_of("tp_progress"), 2);
    must(tp_test_advance(pool.eye, INT64_C(86500000)));
    must(tpi_progress_forget(pool.a));
    expect_number(count_of("tp_progress"), 1);
    expect_number(count_of("tp_progress WHERE message = 'held'"), 1);
}

TEST(test_progress__is_erased_with_its_task) {
    tp_erased erased = TP_ERASED_INIT;
    tp_new_task task = enqueue(pool.a, .biz_key = "order-4711");
    const tp_task *claimed = claim_this(pool.a, task.id);
    write_progress(pool.a, claimed, 3, "Mrs Miller");
    must(tp_complete_with(pool.a, claimed, "Mrs Miller"));
    must(tp_erase(pool.a, "order-4711", "tester", NULL, 0, &erased));
    expect_number(count_of("tp_progress"), 0);
    expect_number(count_of("tp_finished WHERE result IS NOT NULL"), 0);
}

/* ---- Steps that are done ------------------------------------------------------------------------------- */

static void join_step(const tp_step_row *step, void *arg) {
    char *text = arg;
    assert_true(step->at > LONG_AGO);
    snprintf(text + strlen(text), 64, "%s=%s;", step->name, step->result);
}

TEST(test_progress__steps_that_are_done_are_shown) {
    char text[200] = "";
    const tp_task *task = put_and_claim(pool.a);
    expect(TP_NONE, tp_step_each(pool.eye, task_shown(pool.eye, task->id), join_step, text));
    must(tpi_step_add(pool.a, task, "charge", "receipt 1"));
    must(tpi_step_add(pool.a, task, "mail", NULL));
    must(tp_step_each(pool.eye, task_shown(pool.eye, task->id), join_step, text));
    assert_true(strstr(text, "charge=receipt 1;") && strstr(text, "mail=;"));
    assert_true(strlen(text) == strlen("charge=receipt 1;mail=;"));
}
