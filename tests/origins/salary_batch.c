/* Design B: a salary batch. 600 employees, 200 every 5 minutes, nobody paid twice, even if the timer fires
 * twice. */
#include <time.h>

#include "base/clock.h"
#include "origins/origins.h"

enum { EMPLOYEES = 600, BATCH = 200, EVERY_MS = 5 * 60000 };

DESIGN(salary_batch, {"payments", "pay_key VARCHAR(40) NOT NULL, amount VARCHAR(20)"},
       {"old_salary", "id VARCHAR(36) NOT NULL PRIMARY KEY, pay_key VARCHAR(40), amount VARCHAR(20), "
                      "status INTEGER NOT NULL, batch_id VARCHAR(36)"},
       {"old_salary_keys", "pay_key VARCHAR(40) NOT NULL PRIMARY KEY"});

static const char *plan; /* for claims; NULL: the database's own */

static bool send_salary(tp_conn *conn, const tp_task *task) {
    return sql_try(conn, "INSERT INTO tp_payments (pay_key, amount) VALUES ('%s', '%s')", task->biz_key,
                   task->params);
}

static tp_status pay(tp_conn *conn, const tp_task *task) {
    tp_status status = tp_begin(conn);
    tp_status first = status == TP_OK ? tp_once(conn, task->biz_key, task) : status;
    if (first < TP_OK) status = first;
    if (first == TP_OK && !send_salary(conn, task)) status = TP_DB;
    if (status == TP_OK) status = tp_complete(conn, task);
    if (status == TP_OK) status = tp_commit(conn);
    if (status < TP_OK && tp_rollback(conn) != TP_OK) status = TP_DISCONNECTED;
    return status;
}

static tp_status take_salaries(tp_conn *conn, tp_batch **batch) {
    static const char *const salary = "salary";
    tp_claim_request request = TP_CLAIM_INIT;
    request.handlers = &salary;
    request.handler_count = 1;
    request.limit = 200;
    request.plan = plan;
    return tp_claim(conn, &request, batch);
}

/* One run of the batch; gives how many were paid, or -1. */
static int pay_batch(tp_conn *conn) {
    tp_batch *batch = NULL;
    tp_status status = take_salaries(conn, &batch);
    int paid = (int)tp_batch_count(batch);
    for (int i = 0; i < paid && status == TP_OK; i++)
        status = pay(conn, tp_batch_task(batch, (size_t)i));
    tp_batch_free(batch);
    return status < TP_OK ? -1 : paid;
}

static void expect_paid(int payments, int employees) {
    expect_number(count_of("payments"), payments);
    expect_number(sql_number(pool.eye, "SELECT COUNT(DISTINCT pay_key) FROM tp_payments"), employees);
}

/* Queries as the first way does: who is to be paid, without taking anything. */
static tp_batch *query(tp_conn *conn) {
    tp_list_request request = {.size = sizeof request, .handler = "salary", .limit = BATCH};
    tp_batch *batch = NULL;
    must(tp_list(conn, &request, &batch));
    expect_number(tp_batch_count(batch), BATCH);
    return batch;
}

/* Sends to all of a list; with the ledger, only where the key is new. */
static void send_all(tp_conn *conn, tp_batch *list, bool with_ledger) {
    must(tp_begin(conn));
    for (size_t i = 0; i < tp_batch_count(list); i++) {
        const tp_task *task = tp_batch_task(list, i);
        tp_status first = with_ledger ? tp_once(conn, task->biz_key, task) : TP_OK;
        assert_true(first == TP_OK || first == TP_EXISTS);
        if (first == TP_OK) assert_true(send_salary(conn, task));
    }
    must(tp_commit(conn));
    tp_batch_free(list);
}

/* Two runs, the second begins before the first has sent. */
static void two_runs_query_then_send(bool with_ledger) {
    put_tasks("salary", EMPLOYEES, "2026-11/E%d");
    tp_batch *first = query(pool.a), *second = query(pool.b);
    send_all(pool.a, first, with_ledger);
    send_all(pool.b, second, with_ledger);
}

TEST(test_salary__query_then_send_pays_twice_under_two_runs) {
    two_runs_query_then_send(false);
    expect_paid(2 * BATCH, BATCH);
}

TEST(test_salary__the_ledger_ends_the_second_payment) {
    two_runs_query_then_send(true);
    expect_paid(BATCH, BATCH);
}

/* The token is the batch id: two runs take different employees, and every settle names it. The first of each
 * are paid, in turns. */
static void lock_then_send(const char *with) {
    enum { PAID = 20 };
    tp_batch *first = NULL, *second = NULL;
    put_tasks("salary", 2 * BATCH, "2026-11/E%d");
    plan = with;
    must(take_salaries(pool.a, &first));
    must(take_salaries(pool.b, &second));
    plan = NULL;
    expect_number(tp_batch_count(first), BATCH);
    expect_disjoint(first, second);
    expect_number(count_where("pending", "owner = '%s'", tp_batch_task(second, 0)->owner), BATCH);
    for (size_t i = 0; i < PAID; i++) {
        must(pay(pool.a, tp_batch_task(first, i)));
        must(pay(pool.b, tp_batch_task(second, i)));
    }
    tp_batch_free(first);
    tp_batch_free(second);
    expect_paid(2 * PAID, 2 * PAID);
}

TEST_AS(test_salary__lock_then_send_gives_two_runs_different_employees,
        lock_then_send(pool_plan_possible("batch") ? "batch" : "cas"))

/* A run that was slow: its token is not the row's any more. */
TEST(test_salary__a_run_that_lost_its_batch_pays_nobody) {
    tp_batch *slow = NULL, *next = NULL;
    put_tasks("salary", 3, "2026-11/E%d");
    must(take_salaries(pool.a, &slow));
    advance(65000);
    must(take_salaries(pool.b, &next));
    for (size_t i = 0; i < 3; i++)
        expect(TP_LOST, pay(pool.a, tp_batch_task(slow, i)));
    expect_paid(0, 0);
    for (size_t i = 0; i < 3; i++)
        must(pay(pool.b, tp_batch_task(next, i)));
    expect_paid(3, 3);
    tp_batch_free(slow);
    tp_batch_free(next);
}

/* Even when an employee's task is there a second time: the ledger knows. */
TEST(test_salary__ledger_and_token_together_pay_once) {
    put_tasks("salary", 5, "2026-11/E%d");
    expect_number(pay_batch(pool.a), 5);
    put_tasks("salary", 5, "2026-11/E%d");
    expect_number(pay_batch(pool.b), 5);
    expect_paid(5, 5);
    expect_number(count_of("finished"), 10);
}

/* Not where the clock itself is about to come to a planned time: one more run would fall due. Nor just behind
 * one: clocks that are carried are apart by as long as an answer took. */
static void await_planned_time(void) {
    enum { BEFORE_MS = 60000, BEHIND_MS = 5000 };
    int64_t behind = tpi_clock_wall_ms() % EVERY_MS;
    int64_t left = behind > EVERY_MS - BEFORE_MS ? EVERY_MS - behind + BEHIND_MS : BEHIND_MS - behind;
    struct timespec pause = {.tv_sec = (time_t)(left / 1000 + 1)};
    if (left > 0) nanosleep(&pause, NULL);
}

static void add_schedule(void) {
    await_planned_time();
    tp_schedule schedule = TP_SCHEDULE_INIT;
    schedule.name = "salary-run";
    schedule.rule = "0 0/5 * * * ?";
    schedule.handler = "salary-run";
    schedule.alone = 1;
    must(tp_schedule_add(pool.a, &schedule));
}

static size_t fire(tp_conn *conn) {
    size_t fired = 99;
    tp_status status = tp_schedule_fire(conn, &fired, NULL);
    if (status == TP_NONE) return 0;
    must(status);
    return fired;
}

HANDLER(run_salaries) {
    atomic_fetch_add(&scene.runs, 1);
    return pay_batch(pool.b) < 0 ? TP_RUN_FAILED : TP_RUN_DONE;
}

TEST(test_salary__both_forms_of_cron_say_the_same_times) {
    int64_t quartz = INT64_C(1793000000123), unix_form = quartz;
    for (int i = 0; i < 600; i++) {
        int64_t before = quartz;
        must(tp_schedule_next("0 0/5 * * * ?", NULL, quartz, &quartz));
        must(tp_schedule_next("*/5 * * * *", NULL, unix_form, &unix_form));
        expect_number(quartz, unix_form);
        expect_number(quartz % EVERY_MS, 0);
        assert_in_range(quartz - before, 1, EVERY_MS);
    }
}

TEST(test_salary__each_run_pays_exactly_200) {
    put_tasks("salary", EMPLOYEES, "2026-11/E%d");
    add_schedule();
    tp_worker *worker = worker_with("salary-run", run_salaries, .schedules = 1);
    for (int run = 1; run <= EMPLOYEES / BATCH; run++) {
        advance(EVERY_MS);
        expect_number(step_all(worker), 1);
        expect_paid(run * BATCH, run * BATCH);
    }
    advance(EVERY_MS);
    step_all(worker);
    expect_paid(EMPLOYEES, EMPLOYEES);
    expect_number(count_of("pending"), 0);
}

TEST(test_salary__a_run_does_not_start_while_the_last_goes_on) {
    add_schedule();
    advance(EVERY_MS);
    expect_number(fire(pool.a), 1);
    tp_batch *run = take(pool.a, "salary-run", NULL, 1);
    expect_number(tp_batch_count(run), 1);
    advance(30000);
    must(tp_extend(pool.a, tp_batch_task(run, 0), 4 * EVERY_MS));
    advance(EVERY_MS);
    expect_number(fire(pool.b), 0);
    expect_number(rows_in("pending", "salary-run"), 1);
    complete_all(pool.a, run);
    advance(EVERY_MS);
    expect_number(fire(pool.b), 1);
}

enum { TRIGGERS = 3, TIMES = 5 };

/* Each time it is told, fires, and says how many tasks it made. */
ROLE(fire) {
    for (int i = 0; i < TIMES; i++) {
        size_t fired = 0;
        tp_status status;
        child_say("ready");
        child_wait_for_go();
        do
            status = tp_schedule_fire(pool.a, &fired, NULL);
        while (status < TP_OK && tp_status_may_retry(status) && status != TP_DISCONNECTED);
        if (status < TP_OK) return 1;
        child_say("%d", (int)fired);
    }
    return 0;
}

/* All at once; gives how many tasks they made in all. */
static int fire_together(struct child *children) {
    int fired = 0;
    go_together(children, TRIGGERS);
    for (int i = 0; i < TRIGGERS; i++) {
        char line[CHILD_LINE] = "";
        child_listen(&children[i], line);
        fired += (int)strtol(line, NULL, 10);
    }
    return fired;
}

TEST(test_salary__a_time_that_several_processes_fire_fires_once) {
    struct child children[TRIGGERS];
    add_schedule();
    for (int i = 0; i < TRIGGERS; i++)
        children[i] = child_start("fire", NULL);
    for (int i = 0; i < TIMES; i++) {
        advance(EVERY_MS);
        expect_number(fire_together(children), 1);
        expect_number(rows_in("pending", "salary-run"), 1);
        complete_all(pool.a, take(pool.a, "salary-run", NULL, 1));
    }
    for (int i = 0; i < TRIGGERS; i++)
        child_end(&children[i]);
}

TEST(test_salary__a_caller_that_triggers_again_does_no_harm) {
    tp_new_task run = {.size = sizeof run, .handler = "salary-run"};
    put_tasks("salary", EMPLOYEES, "2026-11/E%d");
    task_set_id(&run, "0191e0a0-0000-7000-8000-00000000b001");
    must(tp_enqueue(pool.a, &run));
    expect(TP_EXISTS, tp_enqueue(pool.b, &run));
    tp_worker *worker = worker_for("salary-run", run_salaries);
    advance(2000); /* a generic clock may have whole seconds only */
    step_all(worker);
    expect(TP_EXISTS, tp_enqueue(pool.b, &run));
    step_all(worker);
    expect_number(atomic_load(&scene.runs), 1);
    expect_paid(BATCH, BATCH);
}

static void old_row(int id, int status, const char *batch) {
    sql_run(pool.eye,
            "INSERT INTO tp_old_salary (id, pay_key, amount, status, batch_id) "
            "VALUES ('%d', '2026-11/E%d', '1000.00', %d, %s)",
            id, id, status, batch);
}

TEST(test_salary__old_rows_move_over_and_back) {
    for (int id = 1; id <= 4; id++)
        old_row(id, 0, "NULL");
    old_row(5, 0, "'a run that goes on'");
    old_row(6, 1, "'an old run'");
    /* Paid, but the old program died before it said so. */
    sql_run(pool.eye, "INSERT INTO tp_old_salary_keys (pay_key) VALUES ('2026-11/E4')");
    run_block("salary_batch.move");
    expect_number(count_of("old_salary"), 2);
    expect_number(count_where("pending", "handler = 'salary' AND dedup_key = biz_key"), 4);
    run_block("salary_batch.move");
    expect_number(count_of("pending"), 4);
    expect_sound_pools();
    expect_number(pay_batch(pool.a), 4);
    expect_paid(3, 3);
    expect_number(count_where("payments", "pay_key = '2026-11/E1' AND amount = '1000.00'"), 1);
    put_tasks("salary", 1, "2026-12/E%d");
    run_block("salary_batch.back");
    expect_number(count_where("old_salary", "pay_key = '2026-12/E1' AND status = 0 AND batch_id IS NULL"), 1);
    expect_number(count_of("old_salary_keys"), 4);
}

TEST(test_salary__a_key_that_the_old_program_wrote_ends_the_payment) {
    put_tasks("salary", 7, "2026-11/E%d");
    run_block("guard");
    expect_number(pay_batch(pool.a), 7);
    expect_paid(6, 6);
    expect_number(count_where("payments", "pay_key = '2026-11/E7'"), 0);
    expect_number(count_of("finished"), 7);
}
