/* Design E: what is tried again and when, what is not, and who is told. */
#include <stdio.h>
#include <string.h>

#include "origins/load_balance.h"
#include "origins/origins.h"

static tp_verdict send_mail(tp_run *run, void *arg) {
    (void)arg;
    if (strstr(tp_run_task(run)->params, "no such address")) tp_run_no_retry(run);
    tp_run_reason(run, "the mail server said no");
    return TP_RUN_FAILED;
}

static struct {
    int count;
    char id[ID], text[80];
} mailed;

static int mail_somebody(const tp_task *task, const char *text, void *arg) {
    (void)arg;
    mailed.count++;
    snprintf(mailed.id, sizeof mailed.id, "%s", task->id);
    snprintf(mailed.text, sizeof mailed.text, "%s", text);
    return 0;
}

static tp_worker *mail_server(void) {
    tp_worker_options options = worker_options();
    memset(&mailed, 0, sizeof mailed);
    options.on_alert = mail_somebody;
    tp_worker *worker = worker_open(&options);
    must(tp_worker_handle(worker, "mail", send_mail, NULL));
    return worker;
}

static void put_mail(const char *params, char id[ID]) {
    tp_new_task task = task_new(params);
    task.handler = "mail";
    must(tp_enqueue(pool.eye, &task));
    memcpy(id, task.id, ID);
}

static void see_attempt(const tp_history *event, void *arg) {
    int *attempts = arg;
    if (event->attempt == *attempts + 1 && strcmp(event->reason, "the mail server said no") == 0)
        (*attempts)++;
}

void test_tasks__are_tried_again_after_1_5_20_minutes_then_somebody_is_told(void **state) {
    static const int64_t minutes[] = {1, 5, 20};
    char id[ID];
    int attempts = 0;
    (void)state;
    put_mail("x", id);
    tp_worker *worker = mail_server();
    expect_number(step_all(worker), 1);
    for (int i = 0; i < 3; i++) {
        struct row row = row_of(id);
        expect_row(id, "pending", "failed", i + 1);
        assert_in_range(row.due_at - row.modified_at, minutes[i] * 60000, minutes[i] * 60000 + 1000);
        advance(minutes[i] * 60000 - 20000);
        expect_number(step_all(worker), 0);
        advance(21500);
        expect_number(mailed.count, 0);
        expect_number(step_all(worker), 1);
    }
    expect_row(id, "failed", "failed", 4);
    assert_string_equal(row_of(id).reason, "the mail server said no");
    step_all(worker);
    expect_number(mailed.count, 1);
    assert_string_equal(mailed.id, id);
    assert_string_equal(mailed.text, "the mail server said no");
    must(tp_history_each(pool.eye, id, 0, see_attempt, &attempts));
    expect_number(attempts, 4);
}

void test_tasks__an_error_that_no_retry_mends_goes_straight_to_the_failed_pool(void **state) {
    char id[ID];
    (void)state;
    put_mail("no such address", id);
    tp_worker *worker = mail_server();
    expect_number(step_all(worker), 1);
    expect_row(id, "failed", "failed", 1);
    step_all(worker);
    expect_number(mailed.count, 1);
    assert_string_equal(mailed.id, id);
}

void test_tasks__no_retry_at_all_is_a_policy(void **state) {
    static const tp_retry none = TP_RETRY_INIT;
    tp_worker_options options = worker_options();
    char id[ID];
    (void)state;
    put_mail("x", id);
    options.retry = &none;
    tp_worker *worker = worker_open(&options);
    must(tp_worker_handle(worker, "mail", send_mail, NULL));
    expect_number(step_all(worker), 1);
    expect_row(id, "failed", "failed", 1);
}

static int64_t longer_each_time(const tp_task *task, int32_t failures, const char *reason, void *arg) {
    (void)task;
    (void)arg;
    return strcmp(reason, "the mail server said no") == 0 && failures < 3 ? failures * INT64_C(7000000) : -1;
}

void test_tasks__each_handler_may_have_a_rule_of_its_own(void **state) {
    static const tp_retry own = {.size = sizeof own, .delay = longer_each_time};
    tp_worker_options options = worker_options();
    char id[ID];
    (void)state;
    put_mail("x", id);
    tp_worker *worker = worker_open(&options);
    must(tp_worker_handle_with(worker, "mail", send_mail, NULL, &own));
    for (int failures = 1; failures < 3; failures++) {
        expect_number(step_all(worker), 1);
        struct row row = row_of(id);
        assert_in_range(row.due_at - row.modified_at, failures * 7000000, failures * 7000000 + 1000);
        advance(failures * INT64_C(7000000) + 2000);
    }
    expect_number(step_all(worker), 1);
    expect_row(id, "failed", "failed", 3);
}
