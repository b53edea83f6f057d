/* The history of failures: written with what it tells of, read by people, and by settles asked again. */
#include <unistd.h>

#include "suite.h"

THEME(history, ONCE);

enum { SEEN = 16 };
struct seen {
    int count;
    struct {
        char task_id[ID], handler[80], event[12], owner[40], who[128], reason[SQL_CELL];
        int attempt;
        int64_t at;
    } one[SEEN];
};

static void see(const tp_history *event, void *arg) {
    struct seen *seen = arg;
    assert_true(seen->count < SEEN);
    int i = seen->count++;
    snprintf(seen->one[i].task_id, ID, "%s", event->task_id);
    snprintf(seen->one[i].handler, sizeof seen->one[i].handler, "%s", event->handler);
    snprintf(seen->one[i].event, sizeof seen->one[i].event, "%s", event->event);
    snprintf(seen->one[i].owner, sizeof seen->one[i].owner, "%s", event->owner);
    snprintf(seen->one[i].who, sizeof seen->one[i].who, "%s", event->who);
    snprintf(seen->one[i].reason, sizeof seen->one[i].reason, "%s", event->reason);
    seen->one[i].attempt = event->attempt;
    seen->one[i].at = event->at;
}

static int64_t told(const char *id) {
    return count_of("tp_history WHERE task_id = '%s'", id);
}

/* How long after the event somebody else may tell; 0: nobody must be told. */
static int64_t alert_ms(const char *id, const char *event) {
    return sql_number(pool.eye,
                      "SELECT COALESCE(MAX(alert_at - created_at), -1) FROM tp_history WHERE task_id = '%s' "
                      "AND event = '%s'",
                      id, event);
}

TEST(test_history__a_failure_is_told_with_attempt_who_when_and_why) {
    struct seen seen = {0};
    char pid[24];
    const tp_task *task = put_and_claim(pool.a);
    must(tp_fail(pool.a, task, "余额不足 'x'", NULL));
    must(tp_history_each(pool.b, task->id, 0, see, &seen));
    expect_number(seen.count, 1);
    assert_string_equal(seen.one[0].task_id, task->id);
    assert_string_equal(seen.one[0].handler, pool.handler);
    assert_string_equal(seen.one[0].event, "failed");
    assert_string_equal(seen.one[0].owner, task->owner);
    assert_string_equal(seen.one[0].reason, "余额不足 'x'");
    expect_number(seen.one[0].attempt, 1);
    snprintf(pid, sizeof pid, ":%ld", (long)getpid());
    size_t length = strlen(seen.one[0].who);
    assert_true(length > strlen(pid));
    assert_string_equal(seen.one[0].who + length - strlen(pid), pid);
    assert_in_range(seen.one[0].at - row_of(task->id).modified_at + 60000, 0, 120000);
    expect_number(alert_ms(task->id, "failed"), -1);
}

TEST(test_history__the_last_failure_asks_for_somebody_to_be_told) {
    const tp_task *task = put_and_claim(pool.a);
    expect(TP_EXHAUSTED, tp_fail(pool.a, task, "the last", &never));
    expect_number(told(task->id), 1);
    expect_number(alert_ms(task->id, "gave-up"), 0);
}

TEST(test_history__so_does_giving_up) {
    struct seen seen = {0};
    const tp_task *task = put_and_claim(pool.a);
    expect(TP_EXHAUSTED, tp_give_up(pool.a, task, "no such account"));
    expect_row(task->id, "failed", "failed", 1);
    assert_string_equal(row_of(task->id).reason, "no such account");
    expect_number(alert_ms(task->id, "gave-up"), 0);
    must(tp_history_each(pool.a, task->id, 0, see, &seen));
    expect_number(seen.one[0].attempt, 1);
    expect(TP_EXHAUSTED, tp_give_up(pool.a, task, "no such account"));
    expect(TP_EXHAUSTED, tp_give_up(pool.b, task, "no such account"));
    expect_number(told(task->id), 1);
}

static void expect_lapse(const char *id, const char *owner, int attempt, const char *event) {
    struct seen seen = {0};
    must(tp_history_each(pool.eye, id, 0, see, &seen));
    int last = seen.count - 1;
    if (strcmp(event, "gave-up") == 0) assert_string_equal(seen.one[last--].event, event);
    assert_string_equal(seen.one[last].event, "lapsed");
    assert_string_equal(seen.one[last].owner, owner);
    assert_string_equal(seen.one[last].handler, pool.handler);
    expect_number(seen.one[last].attempt, attempt);
    expect_number(last + 1, attempt);
}

TEST(test_history__a_lapse_is_told_with_the_token_that_let_it_lapse) {
    char owner[ID];
    const tp_task *task = put_and_claim(pool.a);
    for (int attempt = 1; attempt <= 3; attempt++) {
        char id[ID];
        memcpy(id, task->id, ID);
        memcpy(owner, task->owner, ID);
        row_make_due(id);
        task = claim_this(pool.b, id);
        expect_lapse(id, owner, attempt, "lapsed");
        assert_string_equal(task->reason + 22, owner);
        expect_number(alert_ms(id, "lapsed"), -1);
    }
}

TEST(test_history__a_claim_asked_again_tells_of_a_lapse_once) {
    char owner[ID];
    tp_claim_request request = claim_request(5);
    const tp_task *task = put_and_claim(pool.a);
    memcpy(owner, task->owner, ID);
    row_make_due(task->id);
    task = claim_this(pool.a, task->id);
    memcpy(request.token, task->owner, ID);
    tp_batch *again = claim_by(pool.b, &request);
    expect_count(again, 1);
    expect_lapse(task->id, owner, 1, "lapsed");
    sql_run(pool.eye, "DELETE FROM tp_history WHERE task_id = '%s'", task->id);
    memcpy(request.token, task->owner, ID); /* the first try got no further than the claim */
    again = claim_by(pool.b, &request);
    expect_lapse(task->id, owner, 1, "lapsed");
}

TEST(test_history__so_does_the_last_lapse) {
    tp_claim_request request = claim_request(1);
    tp_new_task new_task = enqueue(pool.a, .max_failures = 1);
    const tp_task *task = claim_this(pool.a, new_task.id);
    row_make_due(task->id);
    expect(TP_NONE, try_claim(pool.b, &request));
    expect_row(task->id, "failed", "failed", 1);
    expect_number(alert_ms(task->id, "gave-up"), 0);
    expect_lapse(task->id, task->owner, 1, "gave-up");
    expect(TP_LOST, tp_fail(pool.a, task, "too late", &never));
}

TEST(test_history__is_rolled_back_with_the_failure) {
    for (int last = 0; last < 2; last++) {
        const tp_task *task = put_and_claim(pool.a);
        struct row before = row_of(task->id);
        must(tp_begin(pool.a));
        expect(last ? TP_EXHAUSTED : TP_OK, tp_fail(pool.a, task, "x", last ? &never : NULL));
        must(tp_rollback(pool.a));
        expect_number(told(task->id), 0);
        expect_same(task->id, &before);
        must(tp_begin(pool.a));
        expect(last ? TP_EXHAUSTED : TP_OK, tp_fail(pool.a, task, "x", last ? &never : NULL));
        must(tp_commit(pool.a));
        expect_number(told(task->id), 1);
    }
}

TEST(test_history__tells_nothing_of_a_task_that_is_done) {
    const tp_task *task;
    struct seen seen = {0};
    for (int i = 0; i < SETTLES; i++) {
        if (strcmp(settles[i].name, "fail") == 0) continue;
        task = put_and_claim(pool.a);
        uint64_t before = tp_conn_counters(pool.a)->statements;
        must(settles[i].call(pool.a, task));
        bool moves = i < 2; /* to the finished pool; begin, probe and commit may be statements, too */
        bool in_two = moves && strcmp(pool.entry, "postgres") != 0;
        int most = (in_two ? 5 : 1) + pool_on_generic(); /* how late it is is asked now and then */
        assert_in_range(tp_conn_counters(pool.a)->statements - before, in_two ? 2 : 1, most);
        expect(TP_NONE, tp_history_each(pool.a, task->id, 0, see, &seen));
    }
}

static void fail_again(const char *id, const char *reason) {
    row_make_due(id);
    const tp_task *task = claim_this(pool.a, id);
    must(tp_fail(pool.a, task, reason, NULL));
}

TEST(test_history__of_a_task_is_oldest_first_and_of_the_pool_newest_first) {
    static const char *const reasons[] = {"one", "two", "three"};
    struct seen task = {0}, all = {0};
    const char *id = put_one();
    for (int i = 0; i < 3; i++)
        fail_again(id, reasons[i]);
    must(tp_history_each(pool.a, id, 1, see, &task));
    expect_number(task.count, 3);
    must(tp_history_each(pool.a, NULL, 2, see, &all));
    expect_number(all.count, 2);
    for (int i = 0; i < 3; i++) {
        assert_string_equal(task.one[i].reason, reasons[i]);
        expect_number(task.one[i].attempt, i + 1);
    }
    assert_string_equal(all.one[0].reason, "three");
    assert_string_equal(all.one[1].reason, "two");
}

TEST(test_history__a_failure_is_known_again_when_another_has_the_task) {
    const tp_task *task = put_and_claim(pool.a);
    must(tp_fail(pool.a, task, "x", NULL));
    row_make_due(task->id);
    const tp_task *next = claim_this(pool.b, task->id);
    struct row before = row_of(task->id);
    must(tp_fail(pool.a, task, "x", NULL));
    must(tp_settled(pool.a, task));
    expect(TP_LOST, tp_complete(pool.a, task));
    expect(TP_LOST, tp_give_up(pool.a, task, "x"));
    expect_same(task->id, &before);
    must(tp_complete(pool.b, next));
    must(tp_fail(pool.a, task, "x", NULL));
    must(tp_begin(pool.a));
    expect(TP_CONFLICT, tp_fail(pool.a, task, "x", NULL));
    must(tp_rollback(pool.a));
    expect_number(told(task->id), 1);
}

TEST(test_history__so_is_the_last_one_when_somebody_put_the_task_back) {
    const tp_task *task = put_and_claim(pool.a);
    expect(TP_EXHAUSTED, tp_fail(pool.a, task, "x", &never));
    sql_run(pool.eye,
            "INSERT INTO tp_pending (id, handler, params, shard, priority, state, failures, due_at, "
            "created_at, modified_at) SELECT id, handler, params, shard, priority, 'pending', 0, due_at, "
            "created_at, modified_at FROM tp_failed WHERE id = '%s'",
            task->id);
    sql_run(pool.eye, "DELETE FROM tp_failed WHERE id = '%s'", task->id);
    expect(TP_EXHAUSTED, tp_fail(pool.a, task, "x", &never));
    must(tp_settled(pool.b, task));
    expect_row(task->id, "pending", "pending", 0);
}

TEST(test_history__time_can_be_let_pass_in_tests) {
    enum { HOUR = 3600000 };
    tp_new_task later = enqueue(pool.a, .delay_ms = HOUR);
    expect_nothing(pool.a);
    must(tp_test_advance(pool.a, HOUR + 2000));
    const tp_task *task = claim_this(pool.a, later.id);
    must(tp_test_advance(pool.a, HOUR)); /* its lease is over, and its age counts on */
    const tp_task *held = claim_this(pool.b, later.id);
    expect_number(held->failures, 1);
    assert_true(held->created_at < task->created_at);
    expect(TP_EXHAUSTED, tp_fail(pool.b, held, "x", &never));
    struct row before = row_of(later.id);
    int64_t alert = sql_number(
        pool.eye, "SELECT alert_at FROM tp_history WHERE task_id = '%s' AND event = 'gave-up'", later.id);
    must(tp_test_advance(pool.a, HOUR));
    expect_number(before.settled_at - row_of(later.id).settled_at, HOUR);
    expect_number(alert -
                      sql_number(pool.eye,
                                 "SELECT alert_at FROM tp_history WHERE task_id = '%s' AND event = 'gave-up'",
                                 later.id),
                  HOUR);
    expect(TP_MISUSE, tp_test_advance(pool.a, -1));
}

/* A row in each table that tells a time, and how far each time then moves. */
TEST(test_history__every_time_in_the_pool_moves) {
    static const char *const columns[][2] = {
        {"pending", "due_at"},      {"pending", "created_at"},   {"pending", "modified_at"},
        {"finished", "created_at"}, {"finished", "modified_at"}, {"finished", "settled_at"},
        {"failed", "created_at"},   {"failed", "modified_at"},   {"failed", "settled_at"},
        {"history", "created_at"},  {"history", "alert_at"},     {"once", "created_at"},
        {"schedule", "next_at"},    {"schedule", "last_at"},     {"worker", "started_at"},
        {"worker", "seen_at"}};
    enum { MS = 1234567, COLUMNS = LENGTH(columns) };
    int64_t before[COLUMNS];
    const tp_task *done = put_and_claim(pool.a);
    const tp_task *spent = put_and_claim(pool.a);
    must(tp_complete(pool.a, done));
    expect(TP_EXHAUSTED, tp_give_up(pool.a, spent, "x"));
    const char *id = put_one();
    must(tp_once(pool.a, pool.handler, NULL));
    sql_run(pool.eye,
            "INSERT INTO tp_schedule (name, rule, handler, shard, priority, missed, missed_max, alone, "
            "paused, next_at, last_at, created_at, modified_at) VALUES ('%s', 'every 1h', 'x', 0, 0, 'once', "
            "1, 0, 1, 5000000000000, 4000000000000, 1, 1)",
            pool.handler);
    sql_run(pool.eye,
            "INSERT INTO tp_worker (id, name, host, pid, handlers, plan, threads, state, running, claimed, "
            "done, failed, started_at, seen_at) VALUES ('%s', 'w', 'h', 1, 'x', 'skip', 1, 'running', 0, 0, "
            "0, 0, 4000000000000, 5000000000000)",
            id);
    for (int c = 0; c < COLUMNS; c++)
        before[c] = sql_number(pool.eye, "SELECT MAX(%s) FROM tp_%s", columns[c][1], columns[c][0]);
    must(tp_test_advance(pool.a, MS));
    for (int c = 0; c < COLUMNS; c++) {
        int64_t after = sql_number(pool.eye, "SELECT MAX(%s) FROM tp_%s", columns[c][1], columns[c][0]);
        if (before[c] - after != MS) fail_msg("%s.%s did not move as far", columns[c][0], columns[c][1]);
    }
}
