/* An enqueue that changes the open task with its dedup_key: done once and recorded, only to a task that
 * waits, in the producer's transaction; who asks again hears what was done. */
#include <sqlext.h>

#include "base/uuid.h"
#include "suite.h"
#include "support/test.h"

THEME(duplicate, ONCE);

#define LATER     (LONG_AGO * 2)
#define REPLACE   .dedup_key = "key", .on_duplicate = TP_DUPLICATE_REPLACE
#define PUSH_BACK .dedup_key = "key", .on_duplicate = TP_DUPLICATE_PUSH_BACK

/* Answers, and names this other task, "": none. */
#define expect_put(conn, task, status, existing)                                                             \
    do {                                                                                                     \
        expect((status), tp_enqueue((conn), (task)));                                                        \
        assert_string_equal((task)->existing_id, (existing));                                                \
    } while (0)

static void put_first(char id[ID]) {
    tp_new_task task = enqueue(pool.a, .dedup_key = "key", .params = "old");
    memcpy(id, task.id, ID);
}

static void expect_content(const char *id, const char *params, int64_t due_at) {
    assert_string_equal(task_shown(pool.b, id)->params, params);
    expect_number(row_of(id).due_at, due_at);
}

/* ---- What is changed ----------------------------------------------------------------------------------- */

TEST(test_duplicate__replace_gives_the_task_that_waits_the_new_content) {
    char id[ID];
    int64_t acts = count_of("tp_audit");
    put_first(id);
    tp_new_task task = task_with(REPLACE, .params = "new", .biz_key = "order 7", .shard = 4, .priority = -2,
                                 .max_failures = 9, .due_at = LATER);
    expect_put(pool.a, &task, TP_OK, id);
    expect_row(id, "pending", "pending", 0);
    expect_content(id, "new", LATER);
    const tp_task *shown = task_shown(pool.b, id);
    assert_string_equal(shown->biz_key, "order 7");
    assert_string_equal(shown->dedup_key, "key");
    expect_number(shown->shard, 4);
    expect_number(shown->priority, -2);
    expect_number(shown->max_failures, 9);
    expect_number(count_of("tp_pending"), 1);
    assert_string_equal(text_of("reason FROM tp_history WHERE event = 'replaced' AND id = '%s'", task.id),
                        "params of 3 bytes, biz_key of 7, shard 4, priority -2, max_failures 9, due at "
                        "2000000000000: due_at 1000000000000 -> 2000000000000");
    expect_number(count_of("tp_audit"), acts); /* it is a producer's, and waits for no operator */
}

/* Its steps would not be done for the new content. */
TEST(test_duplicate__a_task_with_a_step_that_is_done_is_not_replaced) {
    char id[ID];
    put_first(id);
    sql_run(pool.eye, "INSERT INTO tp_step (task_id, step, task_created_at, owner, created_at) "
                      "SELECT id, 'charge', created_at, id, 1 FROM tp_pending WHERE dedup_key = 'key'");
    tp_new_task replaces = task_with(REPLACE, .params = "new"),
                defers = task_with(PUSH_BACK, .due_at = LATER);
    expect_put(pool.a, &replaces, TP_EXISTS, id);
    expect_content(id, "old", LONG_AGO);
    expect_put(pool.a, &defers, TP_OK, id);
    expect_content(id, "old", LATER);
    sql_run(pool.eye, "DELETE FROM tp_step");
    expect_put(pool.a, &replaces, TP_OK, id);
}

TEST(test_duplicate__push_back_moves_the_task_that_waits_to_a_later_time_only) {
    char id[ID];
    put_first(id);
    tp_new_task later = task_with(PUSH_BACK, .params = "new", .priority = 5, .due_at = LATER),
                sooner = task_with(PUSH_BACK, .due_at = LONG_AGO + 1);
    expect_put(pool.a, &later, TP_OK, id);
    expect_content(id, "old", LATER);
    expect_number(task_shown(pool.b, id)->priority, 0);
    expect_put(pool.a, &sooner, TP_OK, id);
    expect_content(id, "old", LATER);
    expect_number(events_of(id, "deferred"), 2);
    tp_new_task delayed = task_new("y");
    delayed.dedup_key = "other";
    delayed.on_duplicate = TP_DUPLICATE_PUSH_BACK;
    expect_put(pool.a, &delayed, TP_OK, "");
    char first[ID];
    memcpy(first, delayed.id, ID);
    int64_t now = 0;
    must(tp_now(pool.a, &now));
    delayed = task_with(.dedup_key = "other", .delay_ms = 3600000, .on_duplicate = TP_DUPLICATE_PUSH_BACK);
    expect_put(pool.a, &delayed, TP_OK, first);
    int64_t wait = row_of(first).due_at - now - 3600000;
    assert_in_range(wait + 2000, 0, 600000);
}

static tp_status order_changed(tp_conn *conn, const char *order) {
    tp_new_task task = TP_NEW_TASK_INIT;
    task.handler = "reindex";
    task.biz_key = task.dedup_key = order;
    task.delay_ms = 30000;
    task.on_duplicate = TP_DUPLICATE_PUSH_BACK;
    return tp_enqueue(conn, &task);
}

TEST(test_duplicate__a_burst_of_changes_is_one_task) {
    for (int i = 0; i < 3; i++)
        must(order_changed(i & 1 ? pool.b : pool.a, "order 7"));
    expect_number(count_of("tp_pending WHERE handler = 'reindex'"), 1);
    expect_number(count_of("tp_history WHERE handler = 'reindex' AND event = 'deferred'"), 2);
    sql_run(pool.eye, "DELETE FROM tp_pending WHERE handler = 'reindex'");
}

TEST(test_duplicate__a_task_that_waits_for_a_retry_keeps_its_failures) {
    char id[ID];
    tpi_uuid_ordered(id);
    put_row(pool.eye, .in = "pending", .id = id, .state = "failed", .failures = 2, .dedup_key = "key",
            .due_at = LATER);
    tp_new_task task = task_with(REPLACE, .params = "new");
    expect_put(pool.a, &task, TP_OK, id);
    expect_row(id, "pending", "failed", 2);
    expect_content(id, "new", LONG_AGO);
}

/* ---- What is not --------------------------------------------------------------------------------------- */

TEST(test_duplicate__a_task_in_hand_is_left_alone) {
    char id[ID];
    put_first(id);
    const tp_task *held = claim_this(pool.b, id);
    tp_new_task replace = task_with(REPLACE, .params = "new"),
                push_back = task_with(PUSH_BACK, .due_at = LATER);
    struct row before = row_of(id);
    for (int i = 0; i < 2; i++) {
        expect_put(pool.a, &replace, TP_EXISTS, id);
        expect_put(pool.a, &push_back, TP_EXISTS, id);
    }
    expect_same(id, &before);
    must(tp_complete(pool.b, held));
    expect_put(pool.a, &replace, TP_OK, "");
    expect_row(replace.id, "pending", "pending", 0);
    expect_number(count_of("tp_history"), 0);
}

/* Its transaction can see the row as one that waits, and would change what its handler has read. */
TEST(test_duplicate__nor_is_one_that_this_transaction_holds) {
    char id[ID];
    if (!pool_plan_possible("hold")) skip();
    put_first(id);
    tp_new_task task = task_with(REPLACE, .params = "new");
    must(tp_begin(pool.a));
    const tp_task *held = tp_batch_task(claim_with(pool.a, .limit = 1, .plan = "hold"), 0);
    expect_put(pool.a, &task, TP_EXISTS, id);
    must(tp_complete(pool.a, held));
    must(tp_commit(pool.a));
    expect_row(id, "finished", "done", 0);
    assert_string_equal(task_shown(pool.b, id)->params, "old");
}

TEST(test_duplicate__of_one_that_another_holds_the_end_is_waited_for) {
    struct aside aside;
    char id[ID];
    if (!pool_plan_possible("hold")) skip();
    put_first(id);
    tp_new_task task = task_with(REPLACE, .params = "new");
    must(tp_begin(pool.b));
    const tp_task *held = tp_batch_task(claim_with(pool.b, .limit = 1, .plan = "hold"), 0);
    start_blocked(&aside, pool.a, enqueue_call, &task);
    must(tp_complete(pool.b, held));
    must(tp_commit(pool.b));
    expect(TP_OK, aside_end(&aside));
    assert_string_equal(task.existing_id, "");
    expect_row(id, "finished", "done", 0);
    expect_row(task.id, "pending", "pending", 0);
}

TEST(test_duplicate__what_is_settled_is_no_open_task) {
    char id[ID];
    tpi_uuid_ordered(id);
    put_row(pool.eye, .in = "failed", .id = id, .state = "failed", .failures = 1, .dedup_key = "key");
    struct row before = row_of(id);
    tp_new_task task = task_with(REPLACE, .params = "new");
    expect_put(pool.a, &task, TP_OK, "");
    expect_put(pool.a, &task, TP_EXISTS, task.id);
    expect_same(id, &before);
}

TEST(test_duplicate__what_cannot_be_is_refused_in_words) {
    char id[ID];
    tp_new_task good = task_with(REPLACE, .params = "new");
    tpi_uuid_ordered(id);
    with(good, dedup_key, NULL, expect(TP_MISUSE, tp_enqueue(pool.a, &given)));
    with(good, on_duplicate, (tp_on_duplicate)7, expect(TP_MISUSE, tp_enqueue(pool.a, &given)));
    put_row(pool.eye, .in = "pending", .id = id, .handler = "another", .dedup_key = "key");
    expect(TP_MISUSE, tp_enqueue(pool.a, &good));
    expect_text("is of another handler, another");
    sql_run(pool.eye, "DELETE FROM tp_pending WHERE handler = 'another'");
}

TEST(test_duplicate__while_four_eyes_is_on_no_params_are_replaced) {
    tp_four_eyes eyes = TP_FOUR_EYES_INIT;
    char id[ID];
    put_first(id);
    tp_new_task replace = task_with(REPLACE, .params = "new"),
                push_back = task_with(PUSH_BACK, .due_at = LATER);
    eyes.on = 1;
    must(tp_four_eyes_set(pool.a, &eyes, "root", ""));
    expect(TP_MISUSE, tp_enqueue(pool.a, &replace));
    expect_text("four eyes is on");
    expect_put(pool.a, &push_back, TP_OK, id);
    expect_content(id, "old", LATER);
}

TEST(test_duplicate__while_four_eyes_is_on_nothing_is_pushed_behind_its_deadline) {
    tp_four_eyes eyes = TP_FOUR_EYES_INIT;
    char id[ID];
    put_first(id);
    tp_new_task dated = task_with(REPLACE, .due_at = LONG_AGO, .deadline_at = LATER);
    must(tp_enqueue(pool.a, &dated));
    tp_new_task behind = task_with(PUSH_BACK, .due_at = LATER),
                before = task_with(PUSH_BACK, .due_at = LATER - 1);
    eyes.on = 1;
    must(tp_four_eyes_set(pool.a, &eyes, "root", ""));
    expect(TP_MISUSE, tp_enqueue(pool.a, &behind));
    expect_text("four eyes is on");
    expect_number(row_of(id).due_at, LONG_AGO);
    expect_put(pool.a, &before, TP_OK, id);
    expect_number(row_of(id).due_at, LATER - 1);
}

/* ---- Asked again --------------------------------------------------------------------------------------- */

static void expect_done_once(tp_new_task *task, const char *id) {
    int64_t pending = count_of("tp_pending");
    for (int i = 0; i < 2; i++)
        expect_put(i ? pool.b : pool.a, task, TP_OK, id);
    expect_number(count_of("tp_history WHERE id = '%s'", task->id), 1);
    expect_number(count_of("tp_pending"), pending);
}

TEST(test_duplicate__asked_again_is_done_once_whatever_became_of_the_task) {
    for (int mode = TP_DUPLICATE_REPLACE; mode <= TP_DUPLICATE_PUSH_BACK; mode++) {
        char id[ID];
        put_first(id);
        tp_new_task task = task_with(.dedup_key = "key", .params = "new", .delay_ms = 60000,
                                     .on_duplicate = (tp_on_duplicate)mode);
        expect_put(pool.a, &task, TP_OK, id);
        struct row before = row_of(id);
        expect_done_once(&task, id);
        expect_same(id, &before);
        row_make_due(id);
        const tp_task *claimed = claim_this(pool.b, id);
        expect_done_once(&task, id);
        must(tp_complete(pool.b, claimed));
        expect_done_once(&task, id);
        sql_run(pool.eye, "DELETE FROM tp_finished WHERE id = '%s'", id);
        expect_done_once(&task, id);
    }
}

TEST(test_duplicate__asked_again_with_other_content_is_refused) {
    char id[ID];
    put_first(id);
    tp_new_task task = task_with(REPLACE, .params = "new", .due_at = LATER);
    expect_put(pool.a, &task, TP_OK, id);
    task.content = 0; /* as another process has it, which knows the id alone */
    with(task, params, "newer", expect(TP_MISUSE, tp_enqueue(pool.a, &given)));
    expect_text("was done with other content");
    with(task, priority, 1, expect(TP_MISUSE, tp_enqueue(pool.a, &given)));
    with(task, due_at, LATER + 1, expect(TP_MISUSE, tp_enqueue(pool.a, &given)));
    with(task, on_duplicate, TP_DUPLICATE_PUSH_BACK, expect(TP_MISUSE, tp_enqueue(pool.a, &given)));
    expect_put(pool.a, &task, TP_OK, id);
}

TEST(test_duplicate__of_a_task_that_was_replaced_its_own_producer_hears_that_it_is_there) {
    tp_new_task first = enqueue(pool.a, .dedup_key = "key", .params = "old"),
                task = task_with(REPLACE, .params = "new");
    expect_put(pool.b, &task, TP_OK, first.id);
    expect_put(pool.a, &first, TP_EXISTS, first.id);
    first.content = 0;
    first.handler = "other"; /* of which no edit changes anything */
    expect(TP_EXISTS, tp_enqueue(pool.a, &first));
}

TEST(test_duplicate__asked_again_after_a_lost_answer_is_done_once) {
    bool more = true;
    for (int at = 0; more && at < 120; at++) {
        char id[ID];
        sql_run(pool.eye, "DELETE FROM tp_pending");
        put_first(id);
        tp_new_task task = task_with(REPLACE, .params = "new", .due_at = LATER);
        lose_nth_call(at / 2, at & 1);
        tp_status status = tp_enqueue(pool.a, &task);
        more = lost_nth_call() || at & 1;
        if (status < TP_OK) {
            must(tp_conn_reopen(pool.a));
            while ((status = tp_enqueue(pool.a, &task)) < TP_OK && tp_status_may_retry(status)) {
            }
        }
        must(status);
        assert_string_equal(task.existing_id, id);
        expect_content(id, "new", LATER);
        expect_number(count_of("tp_history WHERE id = '%s'", task.id), 1);
    }
    assert_false(more);
}

/* ---- Others at the same time --------------------------------------------------------------------------- */

static struct {
    tp_new_task *task;
    const char *claim; /* not NULL: it claims and completes that task instead */
    tp_status answer;
} rival;

static void act(struct tpi_link *link, void *arg) {
    (void)link, (void)arg;
    if (rival.claim) must(tp_complete(pool.b, claim_this(pool.b, rival.claim)));
    rival.answer = rival.claim ? TP_OK : tp_enqueue(pool.b, rival.task);
}

static tp_status put_against(tp_new_task *task, const char *at, tp_new_task *its, const char *claimed) {
    rival.task = its;
    rival.claim = claimed;
    meet_call(at, act, NULL);
    tp_status status = tp_enqueue(pool.a, task);
    assert_string_equal(tp_status_name(rival.answer), "ok");
    return status;
}

/* SQLite's only writer is the one whose call is met. */
TEST(test_duplicate__of_two_producers_both_are_done_one_after_the_other) {
    char id[ID];
    if (pool_on_sqlite()) skip();
    put_first(id);
    tp_new_task mine = task_with(REPLACE, .params = "mine"), its = task_with(REPLACE, .params = "its");
    must(put_against(&mine, "edit_pending", &its, NULL));
    assert_string_equal(mine.existing_id, id);
    expect_content(id, "mine", LONG_AGO);
    expect_number(events_of(id, "replaced"), 2);
}

TEST(test_duplicate__that_meets_a_worker_puts_in_a_new_one) {
    char id[ID];
    if (pool_on_sqlite()) skip();
    put_first(id);
    tp_new_task task = task_with(REPLACE, .params = "new");
    must(put_against(&task, "edit_pending", NULL, id));
    assert_string_equal(task.existing_id, "");
    expect_row(id, "finished", "done", 0);
    assert_string_equal(task_shown(pool.b, id)->params, "old");
    expect_row(task.id, "pending", "pending", 0);
    expect_number(count_of("tp_history"), 0);
}

/* Wherever its commit comes in between. */
TEST(test_duplicate__its_own_first_try_may_come_late) {
    static const char *const places[] = {"duplicate_done", "enqueue", "duplicate_find", "edit_pending"};
    for (size_t i = 0; i < LENGTH(places) && !pool_on_sqlite(); i++) {
        char id[ID];
        sql_run(pool.eye, "DELETE FROM tp_pending");
        put_first(id);
        tp_new_task first = task_with(REPLACE, .params = "new", .due_at = LATER);
        tpi_uuid_ordered(first.id);
        tp_new_task again = first;
        rival.answer = TP_OK;
        must(put_against(&again, places[i], &first, NULL));
        assert_string_equal(again.existing_id, id);
        expect_number(count_of("tp_history WHERE id = '%s'", first.id), 1);
        expect_content(id, "new", LATER);
    }
}

/* ---- In the producer's transaction --------------------------------------------------------------------- */

TEST(test_duplicate__is_part_of_the_producers_transaction) {
    char id[ID];
    put_first(id);
    tp_new_task task = task_with(REPLACE, .params = "new");
    must(tp_begin(pool.a));
    expect_put(pool.a, &task, TP_OK, id);
    must(tp_rollback(pool.a));
    expect_content(id, "old", LONG_AGO);
    expect_number(count_of("tp_history"), 0);
    must(tp_begin(pool.a));
    expect_put(pool.a, &task, TP_OK, id);
    effect(pool.a, id);
    must(tp_commit(pool.a));
    expect_content(id, "new", LONG_AGO);
    expect_number(effects_of(id), 1);
    expect_done_once(&task, id);
}

TEST(test_duplicate__on_a_lent_connection_needs_a_transaction) {
    char id[ID];
    put_first(id);
    struct loan at_once = lent(SQL_AUTOCOMMIT_ON), loan = lent(SQL_AUTOCOMMIT_OFF);
    tp_new_task task = task_with(REPLACE, .params = "new");
    expect(TP_MISUSE, tp_enqueue(at_once.conn, &task));
    for (int i = 0; i < 2; i++) {
        expect_put(loan.conn, &task, TP_OK, id);
        loan_end(&loan, i ? SQL_COMMIT : SQL_ROLLBACK);
        assert_string_equal(task_shown(pool.b, id)->params, i ? "new" : "old");
    }
    expect_put(loan.conn, &task, TP_OK, id);
    loan_end(&loan, SQL_COMMIT);
    expect_number(events_of(id, "replaced"), 1);
}

TEST(test_duplicate__many_go_in_their_order) {
    char id[ID];
    size_t inserted = 0;
    put_first(id);
    tp_new_task tasks[] = {
        task_with(.params = "a"), task_with(.dedup_key = "new", .params = "b"),
        task_with(REPLACE, .params = "first"), task_with(REPLACE, .params = "last"),
        task_with(.dedup_key = "new", .params = "c", .on_duplicate = TP_DUPLICATE_REPLACE)};
    must(tp_begin(pool.a));
    must(tp_enqueue_many(pool.a, tasks, LENGTH(tasks), &inserted));
    must(tp_rollback(pool.a));
    for (int i = 0; i < 2; i++) {
        must(tp_enqueue_many(pool.a, tasks, LENGTH(tasks), &inserted));
        expect_number(inserted, i ? 0 : 2);
        assert_string_equal(tasks[3].existing_id, id);
        assert_string_equal(tasks[4].existing_id, tasks[1].id);
    }
    expect_content(id, "last", LONG_AGO);
    assert_string_equal(task_shown(pool.b, tasks[1].id)->params, "c");
    expect_number(events_of(id, "replaced"), 2);
    expect_number(count_of("tp_pending"), 3);
}

/* ---- Two producers at once ----------------------------------------------------------------------------- */

struct producer {
    struct loan loan;
    const char *key;
    tp_status status;
};

static tp_status replace_by(const struct producer *producer, int64_t deadline_at) {
    tp_new_task task = task_with(.dedup_key = producer->key, .on_duplicate = TP_DUPLICATE_REPLACE,
                                 .params = "new", .due_at = LATER, .deadline_at = deadline_at);
    return tp_enqueue(producer->loan.conn, &task);
}

static void *replace_with_deadline(void *arg) {
    struct producer *producer = arg;
    producer->status = replace_by(producer, LATER + 1000);
    return NULL;
}

/* Each has locked the gap into which the other is to put the deadline. */
TEST(test_duplicate__two_that_replace_at_repeatable_read_may_meet_a_deadlock_and_one_is_told) {
    struct producer all[2] = {{.key = "one"}, {.key = "two"}};
    if (!pool_speaks("mysql") || pool_on_mysql()) skip(); /* MySQL's second waits for the first before that */
    for (int i = 0; i < 2; i++) {
        (void)enqueue(pool.a, .dedup_key = all[i].key, .params = "old", .due_at = LATER);
        all[i].loan = loan_open(SQL_AUTOCOMMIT_OFF);
        sure(sql_raw(all[i].loan.raw.dbc, "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ"),
             "level");
        loan_end(&all[i].loan, SQL_COMMIT);
    }
    for (int i = 0; i < 2; i++)
        must(replace_by(&all[i], 0));
    test_in_threads(2, replace_with_deadline, all, sizeof all[0]);
    for (int i = 0; i < 2; i++) {
        loan_end(&all[i].loan, all[i].status == TP_OK ? SQL_COMMIT : SQL_ROLLBACK);
        loan_close(&all[i].loan);
    }
    expect_number((all[0].status == TP_OK) + (all[1].status == TP_OK), 1);
    expect_number((all[0].status == TP_CONFLICT) + (all[1].status == TP_CONFLICT), 1);
    expect_number(count_of("tp_pending"), 2);
    expect_number(count_of("tp_history WHERE event = 'replaced'"), 2);
}
