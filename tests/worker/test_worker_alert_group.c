/* Alerts in groups: one call for many tasks, after the time that they are collected for; each task at least
 * once, and once only while nobody dies. */
#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "ops/for_workers.h"
#include "support/callbacks.h"
#include "support/child.h"
#include "worker/rig.h"

enum { GROUP_MS = 600000, TAKEN_MS = 120000 };

struct heard {
    int calls, tasks;
    int most, fewest;        /* tasks of one call */
    int reasons, of_reasons; /* groups of the last call, and tasks in them */
    int wrong;
    int answer;
    tp_worker *other; /* steps during the call; NULL: none */
    char taken_by_other[TP_ID_SIZE];
};

static void hear_reason(const tp_failure *failure, void *arg) {
    struct heard *heard = arg;
    heard->reasons++;
    heard->of_reasons += (int)failure->count;
    heard->wrong += strcmp(failure->reason_like, "no money") != 0 || failure->waiting != 0;
}

static int hear(const tp_batch *tasks, void *arg) {
    struct heard *heard = arg;
    int count = (int)tp_batch_count(tasks);
    heard->calls++;
    heard->tasks += count;
    if (count > heard->most) heard->most = count;
    if (!heard->fewest || count < heard->fewest) heard->fewest = count;
    for (size_t i = 0; i < (size_t)count; i++) {
        const tp_task *task = tp_batch_task(tasks, i);
        heard->wrong += strcmp(task->handler, pool.handler) != 0 || strcmp(task->reason, "no money") != 0 ||
                        strcmp(task->pool, "failed") != 0 || task->failures != 1 || task->params;
        heard->wrong += strcmp(task->id, heard->taken_by_other) == 0;
    }
    heard->reasons = heard->of_reasons = 0;
    must(tp_batch_failures(tasks, hear_reason, heard));
    if (heard->other) {
        tp_status status = tp_worker_step(heard->other, NULL);
        if (status < TP_OK) must(status);
    }
    return heard->answer;
}

#define GROUPING(heard)                                                                                      \
    .retry = &rig_no_retries, .on_alert_group = hear, .alert_arg = (heard), .alert_group_ms = GROUP_MS

#define expect_heard(heard, call_count, task_count)                                                          \
    do {                                                                                                     \
        expect_number((heard)->calls, (call_count));                                                         \
        expect_number((heard)->tasks, (task_count));                                                         \
        expect_number((heard)->wrong, 0);                                                                    \
    } while (0)

/* Tasks in the failed pool, with the note that an alert is due. */
static void put_failed(int count) {
    rig_run_with(count, rig_fail, .retry = &rig_no_retries, .batch = 1000);
}

static void step(struct heard *heard) {
    tp_worker *worker = rig_open_with(rig_fail, GROUPING(heard));
    tp_status status = tp_worker_step(worker, NULL);
    if (status < TP_OK) must(status);
    rig_close(worker);
}

/* Of sessions that carry a clock on by themselves the one is a little behind the other. */
static void pass_group_time(void) {
    must(rig_advance(pool.a, GROUP_MS + 5000));
}

static int notes_left(void) {
    return rig_count_where("history", "alert_at IS NOT NULL");
}

TEST(test_alert_group__is_given_in_one_call_when_the_first_has_waited_for_its_time) {
    struct heard heard = {.calls = 0};
    put_failed(5);
    step(&heard);
    expect_heard(&heard, 0, 0);
    must(rig_advance(pool.a, GROUP_MS - 60000));
    put_failed(2);
    step(&heard);
    expect_heard(&heard, 0, 0);
    must(rig_advance(pool.a, RIG_LEASE_OVER_MS));
    step(&heard);
    expect_heard(&heard, 1, 7);
    expect_number(heard.reasons, 1);
    expect_number(heard.of_reasons, 7);
    expect_number(notes_left(), 0);
    pass_group_time();
    step(&heard);
    expect_heard(&heard, 1, 7);
}

/* More than one statement takes. */
TEST(test_alert_group__of_a_thousand_is_one_call_too) {
    struct heard heard = {.calls = 0};
    rig_put(600, "42");
    rig_put(600, "42");
    rig_run_with(0, rig_fail, .batch = 1000, GROUPING(&heard));
    rig_expect(0, 0, 1200);
    expect_heard(&heard, 1, 1200);
    expect_number(notes_left(), 0);
}

TEST(test_alert_group__that_is_full_is_given_at_once) {
    struct heard heard = {.calls = 0};
    put_failed(5);
    tp_worker *worker = rig_open_with(rig_fail, GROUPING(&heard), .alert_group_max = 2);
    tp_status status = tp_worker_step(worker, NULL);
    if (status < TP_OK) must(status);
    rig_close(worker);
    expect_heard(&heard, 2, 4);
    expect_number(heard.most, 2);
    expect_number(notes_left(), 1);
}

TEST(test_alert_group__that_waits_is_given_when_the_worker_ends) {
    struct heard heard = {.calls = 0};
    tp_worker *worker = rig_start_with(3, rig_fail, GROUPING(&heard));
    rig_await(TP_EVENT_GAVE_UP, 3);
    rig_stop(worker);
    expect_heard(&heard, 1, 3);
    expect_number(notes_left(), 0);
}

/* Of a session whose clock is ahead of the one that looks. */
TEST(test_alert_group__that_failed_later_than_the_clock_says_is_given_when_the_worker_ends) {
    struct heard heard = {.calls = 0};
    int64_t now = 0, next_ms = 0;
    size_t given = 0;
    put_failed(3);
    must(tp_now(pool.a, &now));
    expect_number(sql_run(pool.eye,
                          "UPDATE tp_history SET created_at = %" PRId64 ", alert_at = %" PRId64
                          " WHERE handler = '%s' AND alert_at > 0",
                          now + 1000, now + 1000, pool.handler),
                  3);
    must(tpi_alert_group(pool.a, pool.handlers, 1, 0, 100, hear, &heard, &given, &next_ms));
    expect_heard(&heard, 1, 3);
    expect_number(notes_left(), 0);
}

TEST(test_alert_group__that_was_not_given_is_given_again_whole) {
    struct heard heard = {.answer = 1};
    put_failed(3);
    pass_group_time();
    step(&heard);
    expect_heard(&heard, 1, 3);
    step(&heard); /* its two minutes are not over */
    expect_heard(&heard, 1, 3);
    expect_number(notes_left(), 3);
    heard.answer = 0;
    must(rig_advance(pool.a, TAKEN_MS + 5000));
    step(&heard);
    expect_heard(&heard, 2, 6);
    expect_number(heard.fewest, 3);
    expect_number(notes_left(), 0);
}

static int die(const tp_batch *tasks, void *arg) {
    (void)tasks;
    (void)arg;
    kill(getpid(), SIGKILL);
    return 0;
}

/* It dies when all of its tasks have failed. */
ROLE(mute) {
    tp_worker_options o = {.size = sizeof o,
                           .poll_ms = 20,
                           .drain = 1,
                           .retry = &rig_no_retries,
                           .on_alert_group = die,
                           .alert_group_ms = GROUP_MS};
    tp_worker *worker = NULL;
    if (tp_worker_open(pool.env, &o, &worker) != TP_OK) return 2;
    if (tp_worker_handle(worker, pool.handler, rig_fail, NULL) != TP_OK) return 2;
    if (tp_worker_start(worker) != TP_OK || tp_worker_join(worker) != TP_OK) return 2;
    tp_worker_close(worker);
    return 0;
}

TEST(test_alert_group__of_a_process_that_died_before_the_call_ended_is_given_by_another) {
    struct heard heard = {.calls = 0};
    char line[CHILD_LINE];
    rig_put(4, "42");
    struct child child = child_start("mute", pool.handler, NULL);
    while (child_listen(&child, line))
        print_message("child: %s\n", line);
    expect_number(child_status(&child), -1);
    must(rig_advance(pool.a, TAKEN_MS + 5000));
    pass_group_time();
    rig_expect(0, 0, 4);
    step(&heard);
    expect_heard(&heard, 1, 4);
    expect_number(notes_left(), 0);
}

/* While one is called, another finds nothing, though all was due for it as well. */
TEST(test_alert_group__of_two_workers_at_the_same_time_one_is_called) {
    struct heard one = {.calls = 0}, two = {.calls = 0};
    put_failed(3);
    pass_group_time();
    one.other = rig_open_with(rig_fail, GROUPING(&two));
    step(&one);
    rig_close(one.other);
    expect_heard(&one, 1, 3);
    expect_heard(&two, 0, 0);
    expect_number(notes_left(), 0);
}

/* As another worker does, between the reading and the taking. */
MEET(take_one_before) {
    struct heard *heard = arg;
    expect_number(sql_run(pool.eye, "UPDATE tp_history SET alert_at = alert_at + %d WHERE task_id = '%s'",
                          2 * GROUP_MS, heard->taken_by_other),
                  1);
}

MEET(take_all_before) {
    sql_run(pool.eye, "UPDATE tp_history SET alert_at = alert_at + %d WHERE handler = '%s' AND alert_at > 0",
            2 * GROUP_MS, pool.handler);
}

TEST(test_alert_group__leaves_out_what_another_worker_was_quicker_to_take) {
    struct heard heard = {.calls = 0};
    if (pool_on_sqlite()) skip(); /* one transaction writes at a time, and it has begun */
    put_failed(3);
    pass_group_time();
    sql_text(pool.eye, heard.taken_by_other, sizeof heard.taken_by_other,
             "SELECT task_id FROM tp_history WHERE handler = '%s' ORDER BY id", pool.handler);
    faults_at(.statement = "alert_take_many", .times = 1, .meet = take_one_before, .arg = &heard);
    step(&heard);
    expect_heard(&heard, 1, 2);
    expect_number(notes_left(), 1);
}

TEST(test_alert_group__that_another_worker_took_whole_is_not_given) {
    struct heard heard = {.calls = 0};
    if (pool_on_sqlite()) skip(); /* one transaction writes at a time, and it has begun */
    put_failed(3);
    pass_group_time();
    faults_at(.statement = "alert_take_many", .times = 1, .meet = take_all_before);
    step(&heard);
    expect_heard(&heard, 0, 0);
    expect_number(notes_left(), 3);
}

TEST(test_alert_group__names_tasks_that_have_left_the_failed_pool_again) {
    struct heard heard = {.calls = 0};
    put_failed(2);
    expect_number(sql_run(pool.eye, "DELETE FROM tp_failed WHERE handler = '%s'", pool.handler), 2);
    pass_group_time();
    step(&heard);
    expect_heard(&heard, 1, 2);
}

ALERT(hear_one) {
    return 0;
}

TEST(test_alert_group__is_called_instead_of_single_alerts_and_has_limits) {
    tp_worker *worker = NULL;
    tp_worker_options o = {.size = sizeof o, .on_alert_group = hear, .alert_group_max = 10001};
    expect(TP_MISUSE, tp_worker_open(pool.env, &o, &worker));
    o.alert_group_max = 0;
    o.alert_group_ms = -1;
    expect(TP_MISUSE, tp_worker_open(pool.env, &o, &worker));
    o.alert_group_ms = 0;
    o.on_alert = hear_one;
    expect(TP_MISUSE, tp_worker_open(pool.env, &o, &worker));
}
