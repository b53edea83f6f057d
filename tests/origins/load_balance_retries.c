/* Design E: what is tried again and when, what is not, and who is alerted. */
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

ALERT(mail_somebody) {
    mailed.count++;
    snprintf(mailed.id, sizeof mailed.id, "%s", task->id);
    snprintf(mailed.text, sizeof mailed.text, "%s", text);
    return 0;
}

static tp_worker *mail_server(void) {
    memset(&mailed, 0, sizeof mailed);
    return worker_with("mail", send_mail, .on_alert = mail_somebody);
}

static void see_attempt(const tp_history *event, void *arg) {
    int *attempts = arg;
    if (event->attempt == *attempts + 1 && strcmp(event->reason, "the mail server said no") == 0)
        (*attempts)++;
}

TEST(test_tasks__are_tried_again_after_1_5_20_minutes_then_somebody_is_told) {
    static const int64_t minutes[] = {1, 5, 20};
    char id[ID];
    int attempts = 0;
    put_task("mail", "x", id);
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

TEST(test_tasks__an_error_that_no_retry_mends_goes_straight_to_the_failed_pool) {
    char id[ID];
    put_task("mail", "no such address", id);
    tp_worker *worker = mail_server();
    expect_number(step_all(worker), 1);
    expect_row(id, "failed", "failed", 1);
    step_all(worker);
    expect_number(mailed.count, 1);
    assert_string_equal(mailed.id, id);
}

TEST(test_tasks__no_retry_at_all_is_a_policy) {
    static const tp_retry none = TP_RETRY_INIT;
    char id[ID];
    put_task("mail", "x", id);
    expect_number(step_all(worker_with("mail", send_mail, .retry = &none)), 1);
    expect_row(id, "failed", "failed", 1);
}

DELAY(longer_each_time) {
    return strcmp(reason, "the mail server said no") == 0 && failures < 3 ? failures * INT64_C(7000000) : -1;
}

TEST(test_tasks__each_handler_may_have_a_rule_of_its_own) {
    static const tp_retry own = {.size = sizeof own, .delay = longer_each_time};
    char id[ID];
    put_task("mail", "x", id);
    tp_worker *worker = worker_open(&WORKER_OPTIONS(.drain = 0));
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
