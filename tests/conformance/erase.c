/* What is left of a business row: tasks in any number, their events, their keys of the ledger. Nothing that
 * others have is touched, nothing is deleted unrecorded, and nothing while a task is open. */
#include "base/uuid.h"
#include "suite.h"
#include "support/faults.h"

THEME(erase, ONCE);

static tp_erased erase(tp_conn *conn, const char *biz_key) {
    tp_erased erased = TP_ERASED_INIT;
    must(tp_erase(conn, biz_key, "ann@desk", "request 17", 0, &erased));
    return erased;
}

/* Rows of a settled pool, as no call of the library makes them so quickly. */
static void put_many(const char *in, const char *biz_key, size_t count) {
    for (size_t i = 0; i < count; i += 20) {
        char text[20 * 300] = "";
        size_t length = 0, some = count - i < 20 ? count - i : 20;
        for (size_t k = 0; k < some; k++) {
            char id[ID];
            tpi_uuid_ordered(id);
            length += (size_t)snprintf(text + length, sizeof text - length,
                                       "%s('%s', '%s', '%s', 0, 0, '%s', 1, 1, 1, 1, 2)", k ? ", " : "", id,
                                       pool.handler, biz_key, strcmp(in, "failed") ? "done" : "failed");
        }
        sql_run(
            pool.eye,
            "INSERT INTO tp_%s (id, handler, biz_key, shard, priority, state, failures, due_at, created_at, "
            "modified_at, settled_at) VALUES %s",
            in, text);
    }
}

static int64_t left_of(const char *biz_key) {
    return count_of("tp_finished WHERE biz_key = '%s'", biz_key) +
           count_of("tp_failed WHERE biz_key = '%s'", biz_key);
}

static int64_t records_of(const char *words) {
    return count_of(
        "tp_history WHERE event = 'erased' AND task_id IS NULL AND who = 'ann@desk' AND reason = '%s: "
        "request 17'",
        words);
}

/* A task with the key, claimed by pool.a. */
static const tp_task *take_with_key(const char *biz_key) {
    tp_new_task task = enqueue(pool.a, .biz_key = biz_key);
    return claim_this(pool.a, task.id);
}

/* ---- What is deleted ----------------------------------------------------------------------------------- */

TEST(test_erase__takes_more_than_one_transaction_full) {
    put_many("finished", "person", 1203);
    put_many("failed", "person", 501);
    put_many("finished", "another person", 3);
    tp_erased erased = erase(pool.a, "person");
    expect_number(erased.finished, 1203);
    expect_number(erased.failed, 501);
    expect_number(left_of("person"), 0);
    expect_number(left_of("another person"), 3);
    expect_number(records_of("500 finished tasks, 0 events, 0 keys of the ledger"), 2);
    expect_number(records_of("203 finished tasks, 0 events, 0 keys of the ledger"), 1);
    expect_number(records_of("500 failed tasks, 0 events, 0 keys of the ledger"), 1);
    expect_number(records_of("1 failed tasks, 0 events, 0 keys of the ledger"), 1);
    expect(TP_NONE, tp_erase(pool.b, "person", "ann@desk", NULL, 0, NULL));
}

TEST(test_erase__takes_events_and_keys_and_leaves_those_of_others) {
    const tp_task *mine = take_with_key("person"), *others = take_with_key("another");
    must(tp_once(pool.a, "mine/1", mine));
    must(tp_once(pool.a, "mine/2", mine));
    must(tp_once(pool.a, "person", NULL));
    must(tp_once(pool.a, "others/1", others));
    must(tp_once(pool.a, "nobodys", NULL));
    must(tp_fail(pool.a, mine, "no account", NULL));
    must(tp_fail(pool.a, others, "no account", NULL));
    tp_selection both = selection_with(.limit = 0);
    must(tp_operate(pool.b, TP_ACTION_SKIP, &both, NULL));
    tp_erased erased = erase(pool.a, "person");
    expect_number(erased.finished, 1);
    expect_number(erased.events, 2);
    expect_number(erased.keys, 3);
    expect_number(count_of("tp_history WHERE task_id = '%s'", mine->id), 0);
    expect_number(count_of("tp_history WHERE task_id = '%s'", others->id), 2);
    expect_number(count_of("tp_once"), 2);
    expect(TP_EXISTS, tp_once(pool.b, "others/1", NULL));
    expect_number(left_of("another"), 1);
    expect_number(records_of("1 finished tasks, 2 events, 3 keys of the ledger"), 1);
}

/* When a task was there, and put a key into the ledger. */
struct stay {
    const char *biz_key;
    int64_t begin, end, key;
};

static void put_stay(const struct stay *stay) {
    char id[ID];
    tpi_uuid_ordered(id);
    sql_run(
        pool.eye,
        "INSERT INTO tp_finished (id, handler, biz_key, shard, priority, state, failures, due_at, "
        "created_at, modified_at, settled_at) VALUES ('%s', '%s', '%s', 0, 0, 'done', 0, 1, %lld, 1, %lld)",
        id, pool.handler, stay->biz_key, (long long)stay->begin, (long long)stay->end);
    sql_run(pool.eye,
            "INSERT INTO tp_once (owner, once_key, handler, task_id, created_at) VALUES ('%s', '%s', '%s', "
            "'%s', %lld)",
            id, id, pool.handler, id, (long long)stay->key);
}

/* What was there at the same time is looked for together, and what was there at another time apart. */
TEST(test_erase__takes_the_keys_of_tasks_that_were_there_at_whatever_time) {
    static const struct stay stays[] = {
        {"person", 90000000, 90001000, 90000500}, {"person", 2000000, 9000000, 8990000},
        {"another", 4000000, 5000000, 4500000},   {"person", 1000000, 2500000, 1000000},
        {"person", 3000000, 3100000, 3100000},    {"another", 50000000, 50000001, 50000000},
        {"person", 9004000, 9900000, 9900000},
    };
    for (size_t i = 0; i < sizeof stays / sizeof stays[0]; i++)
        put_stay(&stays[i]);
    faults_open(); /* other themes have hooks of their own */
    faults_clear();
    size_t looked = faults_count("erase_once");
    tp_erased erased = erase(pool.a, "person");
    expect_number(erased.finished, 5);
    expect_number(erased.keys, 5);
    expect_number(faults_seen(looked), 2);
    expect_number(count_of("tp_once"), 2);
    expect_number(left_of("another"), 2);
}

TEST(test_erase__of_a_key_of_the_ledger_alone_is_recorded) {
    must(tp_once(pool.a, "person", NULL));
    expect_number(erase(pool.a, "person").keys, 1);
    expect_number(records_of("0 finished tasks, 0 events, 1 keys of the ledger"), 1);
}

/* ---- Interrupted --------------------------------------------------------------------------------------- */

/* So many are left: what is gone is recorded. */
static void expect_recorded(int64_t left) {
    expect_number(left == 520 || left == 20 || left == 0, 1);
    expect_number(count_of("tp_history WHERE event = 'erased'"), left == 520 ? 0 : left == 20 ? 1 : 2);
}

TEST(test_erase__interrupted_between_transactions_goes_on) {
    bool more = true, between = false;
    for (int at = 3; more && at < 100000; at += 3) {
        tp_erased erased = TP_ERASED_INIT;
        put_many("finished", "person", 520);
        lose_nth_call(at, at & 1);
        tp_status status = tp_erase(pool.a, "person", "ann@desk", NULL, 0, &erased);
        more = lost_nth_call();
        if (status < TP_OK) {
            must(tp_conn_reopen(pool.a));
            expect_recorded(left_of("person"));
            between |= left_of("person") == 20;
            /* Until the server has noticed the end of the old session, which holds rows. */
            while ((status = tp_erase(pool.a, "person", "ann@desk", NULL, 0, &erased)) < TP_OK &&
                   tp_status_may_retry(status)) {
            }
        }
        assert_true(status >= TP_OK);
        expect_number(left_of("person"), 0);
        expect_recorded(0);
        sql_run(pool.eye, "DELETE FROM tp_history");
    }
    assert_false(more);
    assert_true(between);
}

/* ---- Open tasks ---------------------------------------------------------------------------------------- */

TEST(test_erase__deletes_nothing_while_a_task_is_open_in_any_state) {
    static const char *const states[] = {"pending", "handling", "failed"};
    put_many("finished", "person", 1);
    must(tp_once(pool.a, "person", NULL));
    for (int i = 0; i < 3; i++) {
        char id[ID];
        tpi_uuid_ordered(id);
        put_row(pool.eye, .in = "pending", .id = id, .biz_key = "person", .state = states[i], .failures = i,
                .owner = i == 1 ? "01936f5e-8a4c-7b1d-9c3e-5f6a7b8c9d0e" : NULL);
        tp_erased erased = erase(pool.a, "person");
        expect_number(erased.open, 1);
        expect_number(erased.finished + erased.keys, 0);
        sql_run(pool.eye, "DELETE FROM tp_pending");
    }
    expect_number(left_of("person"), 1);
    expect_number(count_of("tp_once"), 1);
}

/* Between the look and the deletes a task comes, and puts the key into the ledger before it pays. */
static void come_and_pay_first(struct tpi_link *link, void *arg) {
    tp_new_task task = task_with(.biz_key = "person");
    tp_status *answer = arg;
    (void)link;
    *answer = tp_enqueue(pool.b, &task);
    if (*answer == TP_OK) *answer = tp_once(pool.b, "person", NULL);
}

TEST(test_erase__leaves_the_key_of_a_task_that_came_meanwhile) {
    tp_status answer = TP_NONE;
    put_many("finished", "person", 1);
    meet_call("erase_ids_finished", come_and_pay_first, &answer);
    tp_erased erased = erase(pool.a, "person");
    must(answer);
    expect_number(erased.open, 1);
    expect_number(erased.finished + erased.keys, 0);
    expect_number(left_of("person"), 1);
    expect(TP_EXISTS, tp_once(pool.b, "person", NULL));
    expect_number(count_of("tp_history WHERE event = 'erased'"), 0);
}
