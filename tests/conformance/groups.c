/* Groups: that each ends once, when it is closed and its tasks have ended as its rule says, never sooner, and
 * that what waits for it is due then and not before; whatever ends a task, whatever call gets no answer. */
#include <sqlext.h>
#include <time.h>

#include "ops/gate.h"
#include "ops/group.h"
#include "suite.h"
#include "support/faults.h"

THEME(groups, ONCE);

enum { FEW = 3, CALLS_MAX = 80 };

/* ---- Given --------------------------------------------------------------------------------------------- */

/* An open group with so many tasks. */
static void open_with(const char *name, tp_group_rule rule, size_t count, char (*ids)[ID]) {
    must(tp_group_open(pool.a, name, rule, NULL));
    for (size_t i = 0; i < count; i++)
        memcpy(ids[i], enqueue(pool.a, .group = name).id, ID);
}

static void put_after(const char *name, char id[ID]) {
    memcpy(id, enqueue(pool.a, .after = name).id, ID);
}

static void ended(size_t count) {
    size_t got = 99;
    tp_status status = tp_groups_end(pool.a, &got);
    assert_true(status == TP_OK || status == TP_NONE);
    expect_number(status == TP_OK ? got : 0, count);
}

static void expect_state(const char *name, const char *state) {
    assert_string_equal(text_of("state FROM tp_group WHERE name = '%s'", name), state);
}

static void expect_waits(const char *id) {
    expect_row(id, "pending", "pending", 0);
    expect_number(row_of(id).due_at, TPI_GATE_WAITS);
}

static void expect_due(const char *id) {
    expect_row(id, "pending", "pending", 0);
    expect_number(row_of(id).due_at < TPI_GATE_WAITS, 1);
    expect_number(count_of("tp_pending WHERE id = '%s' AND gate IS NULL", id), 1);
}

static void complete_this(const char *id) {
    row_make_due(id);
    must(tp_complete(pool.a, claim_this(pool.a, id)));
}

static void fail_this(const char *id) {
    row_make_due(id);
    expect(TP_EXHAUSTED, tp_fail(pool.a, claim_this(pool.a, id), "no account", &never));
}

static void operate(tp_action action, const char *in, const char *id) {
    const char *ids[1] = {id};
    tp_selection selection = selection_with(.pool = in, .ids = ids, .id_count = 1);
    must(tp_operate(pool.a, action, &selection, NULL));
}

/* ---- Pools that are read at two moments -----------------------------------------------------------------
 */

static char between[1][ID];

/* As a retry would, that the look at both pools did not see. */
static void comes_back(struct tpi_link *link, void *arg) {
    (void)link;
    (void)arg;
    sql_run(pool.eye,
            "INSERT INTO tp_pending (id, handler, state, failures, shard, priority, due_at, created_at, "
            "modified_at) SELECT id, handler, 'pending', 0, shard, priority, due_at, created_at, modified_at "
            "FROM tp_finished WHERE id = '%s'",
            between[0]);
}

/* As a failure would, that the look at both pools did not see. */
static void goes_away(struct tpi_link *link, void *arg) {
    (void)link;
    (void)arg;
    sql_run(pool.eye, "DELETE FROM tp_pending WHERE id = '%s'", between[0]);
}

TEST(test_groups__do_not_end_while_a_task_is_on_its_way_between_two_pools) {
    if (!(pool.a->store.caps & TPI_CAP_READS_APART) || pool_on_sqlite()) skip();
    open_with("payroll", TP_GROUP_ALL_DONE, 1, between);
    must(tp_group_close(pool.a, "payroll"));
    complete_this(between[0]);
    tpi_group_slow_ms = INT64_MAX; /* on a busy machine it would be noted how far the group is */
    faults_open();
    faults_clear();
    tpi_group_slow_ms = INT64_MAX; /* how far a slow question came is looked at, too */
    size_t looks = faults_count("group_first_open");
    (void)faults_at(.statement = "group_lock", .times = 1, .meet = comes_back);
    (void)faults_at(.statement = "group_first_open", .times = 1, .meet = goes_away);
    ended(0);
    expect_number(faults_seen(looks), 0); /* seen before */
    goes_away(NULL, NULL);
    faults_clear();
    (void)faults_at(.statement = "group_first_pending", .skip = 1, .times = 1, .meet = comes_back);
    ended(0); /* seen afterwards */
    expect_state("payroll", "closed");
    faults_clear();
    goes_away(NULL, NULL);
    ended(1);
    tpi_group_slow_ms = 20;
}

/* ---- The end ------------------------------------------------------------------------------------------- */

SUITE_TEST(test_groups__end_when_closed_and_all_tasks_are_done, EACH_PLAN) {
    char ids[FEW][ID], follow[ID];
    must(tp_group_open(pool.a, "run 7", TP_GROUP_ALL_DONE, NULL));
    put_after("run 7", follow);
    for (size_t i = 0; i < FEW; i++)
        memcpy(ids[i], enqueue(pool.a, .group = "run 7").id, ID);
    for (size_t i = 0; i < FEW - 1; i++)
        complete_this(ids[i]);
    ended(0);
    must(tp_group_close(pool.a, "run 7"));
    ended(0);
    expect_waits(follow);
    complete_this(ids[FEW - 1]);
    ended(1);
    expect_state("run 7", "over");
    expect_due(follow);
    complete_this(follow);
    expect(TP_NONE, tp_groups_end(pool.a, NULL));
}

TEST(test_groups__that_are_open_do_not_end_though_all_is_done) {
    char ids[1][ID], follow[ID];
    open_with("g", TP_GROUP_ALL_DONE, 1, ids);
    put_after("g", follow);
    complete_this(ids[0]);
    ended(0);
    expect_waits(follow);
    must(tp_group_close(pool.a, "g"));
    expect(TP_EXISTS, tp_group_close(pool.a, "g"));
    ended(1);
    expect_due(follow);
}

TEST(test_groups__without_tasks_end_when_they_are_closed) {
    char follow[ID];
    must(tp_group_open(pool.a, "g", TP_GROUP_ALL_DONE, NULL));
    expect(TP_EXISTS, tp_group_open(pool.a, "g", TP_GROUP_ALL_DONE, NULL));
    put_after("g", follow);
    must(tp_group_close(pool.a, "g"));
    ended(1);
    expect_due(follow);
    expect(TP_EXISTS, tp_group_open(pool.a, "g", TP_GROUP_ALL_DONE, NULL));
}

/* A retry, a release and a task that another library ended are ends as good as any, or none. */
TEST(test_groups__a_task_is_open_until_it_has_left_the_pool_whoever_takes_it) {
    static const int64_t soon[] = {1, 1, 1};
    static const tp_retry at_once = {.size = sizeof(tp_retry), .delays_ms = soon, .count = LENGTH(soon)};
    char ids[1][ID];
    open_with("g", TP_GROUP_ALL_ENDED, 1, ids);
    must(tp_group_close(pool.a, "g"));
    must(tp_fail(pool.a, claim_this(pool.a, ids[0]), "not now", &at_once));
    ended(0);
    row_make_due(ids[0]);
    must(tp_release(pool.a, claim_this(pool.a, ids[0]), 0));
    ended(0);
    row_make_due(ids[0]);
    claim_and_lapse(pool.b, ids[0]);
    ended(0);
    sql_run(pool.eye, "DELETE FROM tp_pending WHERE id = '%s'", ids[0]);
    ended(1);
}

TEST(test_groups__a_failed_task_holds_up_the_end_until_it_was_retried) {
    char ids[2][ID], follow[ID];
    open_with("g", TP_GROUP_ALL_DONE, 2, ids);
    put_after("g", follow);
    must(tp_group_close(pool.a, "g"));
    fail_this(ids[0]);
    complete_this(ids[1]);
    ended(0);
    operate(TP_ACTION_RETRY, "failed", ids[0]);
    ended(0);
    complete_this(ids[0]);
    ended(1);
    expect_due(follow);
}

TEST(test_groups__or_skipped_or_purged) {
    char ids[2][ID];
    open_with("g", TP_GROUP_ALL_DONE, 2, ids);
    must(tp_group_close(pool.a, "g"));
    fail_this(ids[0]);
    fail_this(ids[1]);
    operate(TP_ACTION_SKIP, "failed", ids[0]);
    ended(0);
    operate(TP_ACTION_PURGE, "failed", ids[1]);
    ended(1);
}

TEST(test_groups__however_tasks_end_where_the_group_says_so) {
    char ids[2][ID], follow[ID];
    open_with("g", TP_GROUP_ALL_ENDED, 2, ids);
    put_after("g", follow);
    must(tp_group_close(pool.a, "g"));
    fail_this(ids[0]);
    tpi_group_slow_ms = 0; /* it is noted that the first has ended */
    ended(0);
    expect_number(count_of("tp_group WHERE name = 'g' AND seen_id = '%s'", ids[1]), 1);
    operate(TP_ACTION_RETRY, "failed", ids[0]); /* before the end it is waited for */
    complete_this(ids[1]);
    ended(0);
    tpi_group_slow_ms = 20;
    expect_waits(follow);
    fail_this(ids[0]);
    ended(1);
    operate(TP_ACTION_RETRY, "failed", ids[0]); /* after it the end stays as it is */
    ended(0);
    expect_state("g", "over");
    expect_due(follow);
}

TEST(test_groups__many_that_wait_are_due_at_once) {
    enum { MANY = TPI_LIST_MAX + 20 };
    tp_new_task *tasks = memory(MANY, sizeof *tasks);
    size_t inserted = 0;
    must(tp_group_open(pool.a, "g", TP_GROUP_ALL_DONE, NULL));
    for (size_t i = 0; i < MANY; i++)
        tasks[i] = task_with(.after = "g");
    must(tp_enqueue_many(pool.a, tasks, MANY, &inserted));
    expect_number(count_of("tp_pending WHERE due_at = %" PRId64, TPI_GATE_WAITS), MANY);
    must(tp_group_close(pool.a, "g"));
    ended(1);
    expect_number(count_of("tp_pending WHERE due_at < %" PRId64 " AND gate IS NULL", TPI_GATE_WAITS), MANY);
    expect_number(count_of("tp_group_task WHERE waits = 2"), MANY);
}

/* ---- After --------------------------------------------------------------------------------------------- */

TEST(test_groups__a_task_after_one_that_has_ended_is_due_at_once_or_when_it_wants) {
    char early[ID], late[ID];
    tp_new_task timed = task_with(.after = "g", .due_at = LONG_AGO * 5), again;
    must(tp_group_open(pool.a, "g", TP_GROUP_ALL_DONE, NULL));
    put_after("g", early);
    must(tp_enqueue(pool.a, &timed));
    again = timed;
    expect(TP_EXISTS, tp_enqueue(pool.a, &again));
    must(tp_group_close(pool.a, "g"));
    ended(1);
    put_after("g", late);
    expect_due(early);
    expect_due(late);
    expect_number(row_of(timed.id).due_at, LONG_AGO * 5);
    expect(TP_EXISTS, tp_enqueue(pool.a, &timed)); /* asked again it is as it was */
    timed.content = 0;
    timed.params = "other";
    expect(TP_MISUSE, tp_enqueue(pool.a, &timed));
}

TEST(test_groups__chains_go_from_one_to_the_next) {
    char ids[1][ID], second[ID], third[ID];
    open_with("one", TP_GROUP_ALL_DONE, 1, ids);
    must(tp_group_open(pool.a, "two", TP_GROUP_ALL_DONE, NULL));
    memcpy(second, enqueue(pool.a, .group = "two", .after = "one").id, ID);
    put_after("two", third);
    must(tp_group_close(pool.a, "one"));
    must(tp_group_close(pool.a, "two"));
    ended(0);
    complete_this(ids[0]);
    ended(1);
    expect_due(second);
    expect_waits(third);
    complete_this(second);
    ended(1);
    expect_due(third);
}

TEST(test_groups__what_waits_can_be_skipped_and_edited_and_stays_where_it_is) {
    char skipped[ID], edited[ID];
    tp_edit_request edit = TP_EDIT_INIT;
    must(tp_group_open(pool.a, "g", TP_GROUP_ALL_DONE, NULL));
    put_after("g", skipped);
    put_after("g", edited);
    edit.fields = TP_EDIT_DUE_AT;
    edit.due_at = LONG_AGO;
    expect(TP_MISUSE, tp_edit(pool.a, edited, &edit, "tester", "sooner"));
    edit.fields = TP_EDIT_PRIORITY;
    edit.priority = 3;
    must(tp_edit(pool.a, edited, &edit, "tester", "sooner"));
    expect_waits(edited);
    operate(TP_ACTION_SKIP, "pending", skipped);
    must(tp_group_close(pool.a, "g"));
    ended(1);
    expect_row(skipped, "finished", "skipped", 0);
    expect_due(edited);
}

/* ---- Within others ------------------------------------------------------------------------------------- */

TEST(test_groups__end_after_those_within_them) {
    char inner[1][ID], follow[ID];
    must(tp_group_open(pool.a, "outer", TP_GROUP_ALL_DONE, NULL));
    must(tp_group_open(pool.a, "inner", TP_GROUP_ALL_DONE, "outer"));
    memcpy(inner[0], enqueue(pool.a, .group = "inner").id, ID);
    put_after("outer", follow);
    must(tp_group_close(pool.a, "outer"));
    ended(0);
    expect(TP_MISUSE, tp_group_open(pool.a, "late", TP_GROUP_ALL_DONE, "outer"));
    expect_text("outer is closed");
    complete_this(inner[0]);
    ended(0);
    must(tp_group_close(pool.a, "inner"));
    expect_waits(follow);
    ended(2); /* by one call */
    expect_due(follow);
}

/* ---- Refused ------------------------------------------------------------------------------------------- */

TEST(test_groups__what_cannot_be_is_refused_with_words) {
    tp_new_task none = task_with(.group = "none"), after = task_with(.after = "none"),
                itself = task_with(.group = "g", .after = "g"),
                both = task_with(.after = "g", .order_key = "k"),
                changes = task_with(.group = "g", .dedup_key = "d", .on_duplicate = TP_DUPLICATE_REPLACE),
                late = task_with(.group = "g");
    must(tp_group_open(pool.a, "g", TP_GROUP_ALL_DONE, NULL));
    expect(TP_MISUSE, tp_enqueue(pool.a, &none));
    expect_text("no group none");
    expect(TP_MISUSE, tp_enqueue(pool.a, &after));
    expect(TP_MISUSE, tp_enqueue(pool.a, &itself));
    expect(TP_MISUSE, tp_enqueue(pool.a, &both));
    expect(TP_MISUSE, tp_enqueue(pool.a, &changes));
    must(tp_group_close(pool.a, "g"));
    expect(TP_MISUSE, tp_enqueue(pool.a, &late));
    expect_text("g is closed");
    ended(1);
    expect(TP_MISUSE, tp_enqueue(pool.a, &late));
    expect_text("g is over");
    expect(TP_MISUSE, tp_group_open(pool.a, "g", TP_GROUP_ALL_ENDED, NULL));
    expect_text("another rule");
    expect(TP_MISUSE, tp_group_open(pool.a, "g", TP_GROUP_ALL_DONE, "h"));
    expect(TP_MISUSE, tp_group_open(pool.a, "", TP_GROUP_ALL_DONE, NULL));
    expect(TP_MISUSE, tp_group_open(pool.a, "h", TP_GROUP_ALL_DONE, "h"));
    expect(TP_MISUSE, tp_group_open(pool.a, "h", (tp_group_rule)7, NULL));
    expect(TP_NONE, tp_group_close(pool.a, "none"));
    expect_number(count_of("tp_pending"), 0);
    expect_number(count_of("tp_group_task"), 0);
    expect_number(count_of("tp_group"), 1);
}

/* ---- Many ---------------------------------------------------------------------------------------------- */

TEST(test_groups__many_tasks_come_in_at_once_and_those_that_are_there_do_not) {
    enum { MANY = 40 };
    tp_new_task tasks[MANY];
    size_t inserted = 0;
    must(tp_group_open(pool.a, "even", TP_GROUP_ALL_DONE, NULL));
    must(tp_group_open(pool.a, "odd", TP_GROUP_ALL_DONE, NULL));
    (void)enqueue(pool.a, .dedup_key = "there");
    for (size_t i = 0; i < MANY; i++)
        tasks[i] = task_with(.group = i % 2 ? "odd" : "even", .dedup_key = i == 4 || i == 5 ? "there" : NULL);
    tasks[6] = task_with(.params = "in none");
    must(tp_enqueue_many(pool.a, tasks, MANY, &inserted));
    expect_number(inserted, MANY - 2);
    expect_number(count_of("tp_group_task WHERE group_name = 'odd' AND waits = 0"), MANY / 2 - 1);
    expect_number(count_of("tp_group_task WHERE group_name = 'even' AND waits = 0"), MANY / 2 - 2);
    must(tp_enqueue_many(pool.a, tasks, MANY, &inserted)); /* asked again */
    expect_number(inserted, 0);
    expect_number(count_of("tp_group_task"), MANY - 3);
}

/* ---- No answer ----------------------------------------------------------------------------------------- */

static tp_status enqueue_again(tp_new_task *task) {
    return tp_enqueue(pool.a, task);
}

TEST(test_groups__an_enqueue_without_an_answer_is_in_its_group_once) {
    int put = 0;
    must(tp_group_open(pool.a, "g", TP_GROUP_ALL_DONE, NULL));
    for (int made = 0; made < 2; made++)
        for (int at = 0; at < CALLS_MAX; at++) {
            tp_new_task task = task_with(.group = "g");
            lose_nth_call(at, made);
            tp_status status = enqueue_again(&task);
            bool lost = lost_nth_call();
            for (int i = 0; i < 3 && status != TP_OK && status != TP_EXISTS; i++) {
                must(tp_conn_reopen(pool.a));
                status = enqueue_again(&task);
            }
            assert_true(status >= TP_OK);
            put++;
            expect_number(count_of("tp_group_task WHERE task_id = '%s'", task.id), 1);
            expect_number(count_of("tp_group_task"), put);
            if (!lost) break;
        }
    expect_number(count_of("tp_pending"), put);
}

/* Whichever call loses its connection: nothing is half ended. */
TEST(test_groups__an_end_without_an_answer_is_one_end) {
    for (int made = 0; made < 2; made++)
        for (int at = 0; at < CALLS_MAX; at++) {
            char follow[ID];
            size_t got = 0;
            empty_pool();
            must(tp_group_open(pool.a, "g", TP_GROUP_ALL_DONE, NULL));
            put_after("g", follow);
            must(tp_group_close(pool.a, "g"));
            lose_nth_call(at, made);
            tp_status status = tp_groups_end(pool.a, &got);
            bool lost = lost_nth_call();
            bool over = strcmp(text_of("state FROM tp_group WHERE name = 'g'"), "over") == 0;
            expect_number(count_of("tp_pending WHERE due_at < %" PRId64, TPI_GATE_WAITS), over);
            for (int i = 0; i < 3 && status < TP_OK; i++) {
                must(tp_conn_reopen(pool.a));
                status = tp_groups_end(pool.a, &got);
            }
            /* The server may keep the lost session for a while, and with it the group locked. */
            for (int i = 0; i < 3000 && strcmp(text_of("state FROM tp_group WHERE name = 'g'"), "over") != 0;
                 i++) {
                nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
                (void)!tp_groups_end(pool.a, &got);
            }
            expect_state("g", "over");
            expect_due(follow);
            if (!lost) break;
        }
}

/* ---- Others at the same time --------------------------------------------------------------------------- */

static tp_status close_call(tp_conn *conn, void *name) {
    return tp_group_close(conn, name);
}

/* The close waits for who is putting a task in, so that nothing comes in behind it. */
TEST(test_groups__a_close_waits_for_tasks_that_are_coming_in) {
    struct aside aside;
    char name[] = "g", ids[1][ID];
    tp_new_task task = task_with(.group = "g");
    open_with(name, TP_GROUP_ALL_DONE, 1, ids);
    must(tp_begin(pool.a));
    must(tp_enqueue(pool.a, &task));
    start_blocked(&aside, pool.b, close_call, name);
    must(tp_commit(pool.a));
    must(aside_end(&aside));
    complete_this(ids[0]);
    ended(0);
    complete_this(task.id);
    ended(1);
}

/* Two may put tasks in at the same time, where rows can be locked by several. */
TEST(test_groups__who_puts_in_does_not_wait_for_another_where_locks_are_shared) {
    tp_new_task first = task_with(.group = "g"), second = task_with(.group = "g");
    if (!pool_speaks("postgres") && !pool_speaks("mysql")) return;
    must(tp_group_open(pool.a, "g", TP_GROUP_ALL_DONE, NULL));
    must(tp_begin(pool.a));
    must(tp_enqueue(pool.a, &first));
    must(tp_enqueue(guest_session(), &second));
    must(tp_commit(pool.a));
    expect_number(count_of("tp_group_task"), 2);
}

/* A group that somebody has locked is left alone and holds up no other. */
TEST(test_groups__one_that_is_locked_holds_up_no_other_where_locks_can_be_passed) {
    tp_new_task late = task_with(.after = "a");
    if (!pool_speaks("postgres") && !pool_speaks("mysql") && !pool_speaks("oracle")) return;
    must(tp_group_open(pool.a, "a", TP_GROUP_ALL_DONE, NULL));
    must(tp_group_open(pool.a, "b", TP_GROUP_ALL_DONE, NULL));
    must(tp_group_close(pool.a, "a"));
    must(tp_group_close(pool.a, "b"));
    must(tp_begin(pool.b));
    must(tp_enqueue(pool.b, &late));
    ended(1);
    expect_state("b", "over");
    must(tp_commit(pool.b));
    expect_waits(late.id);
    ended(1);
    expect_due(late.id);
}

static tp_status end_call(tp_conn *conn, void *arg) {
    return tp_groups_end(conn, arg);
}

/* Of two who notice the end at the same time one ends it. */
TEST(test_groups__two_who_notice_an_end_make_one) {
    struct aside aside;
    size_t others = 0, mine = 0;
    char follow[ID];
    must(tp_group_open(pool.a, "g", TP_GROUP_ALL_DONE, NULL));
    put_after("g", follow);
    must(tp_group_close(pool.a, "g"));
    aside_start(&aside, pool.b, end_call, &others);
    tp_status status = tp_groups_end(pool.a, &mine), other = aside_end(&aside);
    assert_true(status == TP_CONFLICT || status == TP_TIMEOUT || status >= TP_OK);
    assert_true(other == TP_CONFLICT || other == TP_TIMEOUT || other >= TP_OK);
    expect_number((status == TP_OK ? mine : 0) + (other == TP_OK ? others : 0), 1);
    expect_due(follow);
}

/* A lent transaction that began before the end puts a task in after the group: it is due, or refused. */
static void lend_at(SQLINTEGER level) {
    int64_t rows = 0;
    empty_pool();
    must(tp_group_open(pool.a, "g", TP_GROUP_ALL_DONE, NULL));
    must(tp_group_open(pool.a, "h", TP_GROUP_ALL_DONE, NULL));
    struct loan loan = lent(SQL_AUTOCOMMIT_OFF);
    tp_new_task after = task_with(.after = "g"), in = task_with(.group = "h");
    if (!SQL_SUCCEEDED(
            SQLSetConnectAttr(loan.raw.dbc, SQL_ATTR_TXN_ISOLATION, (SQLPOINTER)(intptr_t)level, 0)))
        return;
    sure(sql_raw_number(loan.raw.dbc, &rows, "SELECT COUNT(*) FROM tp_meta"), "%s", sql_reason());
    if (!pool_on_sqlite()) {
        must(tp_group_close(pool.a, "g"));
        must(tp_group_close(pool.a, "h"));
        ended(2);
    }
    tp_status status = tp_enqueue(loan.conn, &after);
    if (status == TP_OK && !pool_on_sqlite()) assert_true(tp_enqueue(loan.conn, &in) < TP_OK);
    loan_end(&loan, status == TP_OK && pool_on_sqlite() ? SQL_COMMIT : SQL_ROLLBACK);
    if (pool_on_sqlite()) {
        must(tp_group_close(pool.a, "g"));
        ended(1);
        expect_due(after.id);
    }
    expect_number(count_of("tp_group_task WHERE waits < 2"), 0);
}

TEST(test_groups__a_lent_transaction_of_any_level_comes_into_no_group_that_is_closed) {
    lend_at(SQL_TXN_READ_COMMITTED);
    lend_at(SQL_TXN_REPEATABLE_READ);
    lend_at(SQL_TXN_SERIALIZABLE);
}

/* ---- People -------------------------------------------------------------------------------------------- */

static void keep_group(const tp_group *group, void *arg) {
    *(tp_group *)arg = *group;
}

TEST(test_groups__are_shown_with_what_became_of_their_tasks) {
    char ids[6][ID], follow[ID];
    tp_group group = {.tasks = 0};
    open_with("g", TP_GROUP_ALL_DONE, 6, ids);
    put_after("g", follow);
    (void)enqueue(pool.a, .params = "in none");
    complete_this(ids[0]);
    complete_this(ids[1]);
    fail_this(ids[2]);
    operate(TP_ACTION_SKIP, "pending", ids[3]);
    claim_this(pool.a, ids[4]);
    must(tp_group_each(pool.b, "g", keep_group, &group));
    expect_number(group.tasks, 6);
    expect_number(group.waiting, 1);
    expect_number(group.handling, 1);
    expect_number(group.done, 2);
    expect_number(group.skipped, 1);
    expect_number(group.failed, 1);
    expect_number(group.after, 1);
    expect_number(group.closed_at, 0);
    must(tp_group_each(pool.b, NULL, keep_group, &group));
    expect_number(group.tasks, -1);
    expect(TP_NONE, tp_group_each(pool.b, "none", keep_group, &group));
}

TEST(test_groups__cancelled_skip_what_waits_and_then_what_waits_for_them) {
    char ids[3][ID], follow[ID];
    size_t skipped = 0;
    open_with("g", TP_GROUP_ALL_DONE, 3, ids);
    put_after("g", follow);
    fail_this(ids[0]);
    const tp_task *running = claim_this(pool.b, ids[1]);
    must(tp_group_cancel(pool.a, "g", "tester", "wrong month", &skipped));
    expect_number(skipped, 2);
    expect_row(ids[0], "finished", "skipped", 1);
    expect_row(ids[2], "finished", "skipped", 0);
    assert_string_equal(text_of("reason FROM tp_finished WHERE id = '%s'", ids[2]), "wrong month");
    ended(0); /* one runs */
    expect_waits(follow);
    must(tp_complete(pool.b, running));
    must(tp_group_cancel(pool.a, "g", "tester", NULL, &skipped)); /* asked again */
    expect_number(skipped, 0);
    ended(1);
    expect_row(follow, "finished", "skipped", 0);
    expect(TP_NONE, tp_group_cancel(pool.a, "none", "tester", NULL, NULL));
    tp_new_task late = task_with(.after = "g");
    expect(TP_MISUSE, tp_enqueue(pool.a, &late));
    expect_text("cancelled");
    expect(TP_MISUSE, tp_group_cancel(pool.a, "g", NULL, NULL, NULL));
}

TEST(test_groups__cancelled_let_what_waits_for_any_end_go) {
    char ids[1][ID], follow[ID];
    open_with("g", TP_GROUP_ALL_ENDED, 1, ids);
    put_after("g", follow);
    must(tp_group_cancel(pool.a, "g", "tester", NULL, NULL));
    ended(1);
    expect_row(ids[0], "finished", "skipped", 0);
    expect_due(follow);
}

TEST(test_groups__are_not_cancelled_by_one_person_where_two_are_needed) {
    char ids[1][ID], follow[ID];
    tp_four_eyes eyes = TP_FOUR_EYES_INIT;
    open_with("g", TP_GROUP_ALL_DONE, 1, ids);
    open_with("before", TP_GROUP_ALL_DONE, 0, NULL);
    put_after("before", follow);
    must(tp_group_cancel(pool.a, "before", "tester", NULL, NULL));
    eyes.on = 1;
    must(tp_four_eyes_set(pool.a, &eyes, "tester", NULL));
    expect(TP_MISUSE, tp_group_cancel(pool.a, "g", "tester", NULL, NULL));
    expect_text("four eyes");
    expect_state("g", "open");
    ended(1); /* what was cancelled by then goes on to its end */
    expect_row(follow, "finished", "skipped", 0);
}

TEST(test_groups__are_forgotten_when_they_have_ended_and_their_tasks_stay) {
    enum { MANY = TPI_LIST_MAX + 3 };
    tp_new_task *tasks = memory(MANY, sizeof *tasks);
    size_t inserted = 0;
    must(tp_group_open(pool.a, "g", TP_GROUP_ALL_ENDED, NULL));
    must(tp_group_open(pool.a, "other", TP_GROUP_ALL_DONE, NULL));
    (void)enqueue(pool.a, .group = "other");
    for (size_t i = 0; i < MANY; i++)
        tasks[i] = task_with(.after = "g");
    must(tp_enqueue_many(pool.a, tasks, MANY, &inserted));
    expect(TP_NONE, tp_group_remove(pool.a, "g", "tester"));
    must(tp_group_close(pool.a, "g"));
    ended(1);
    must(tp_group_remove(pool.a, "g", "tester"));
    expect(TP_NONE, tp_group_remove(pool.a, "g", "tester"));
    expect_number(count_of("tp_group_task"), 1);
    expect_number(count_of("tp_pending"), MANY + 1);
    must(tp_group_open(pool.a, "g", TP_GROUP_ALL_DONE, NULL)); /* the name is free */
}

TEST(test_groups__that_ended_long_ago_go_when_finished_tasks_would) {
    size_t deleted = 0;
    char ids[1][ID];
    open_with("old", TP_GROUP_ALL_DONE, 1, ids);
    must(tp_group_open(pool.a, "new", TP_GROUP_ALL_DONE, NULL));
    must(tp_group_close(pool.a, "old"));
    must(tp_group_close(pool.a, "new"));
    complete_this(ids[0]);
    ended(2);
    sql_run(pool.eye, "UPDATE tp_group SET ended_at = %" PRId64 " WHERE name = 'old'", (int64_t)LONG_AGO);
    must(tp_retention_set(pool.a, "finished", 3600000, "tester"));
    must(tp_retention_apply(pool.a, 100, &deleted));
    must(tp_retention_set(pool.a, "finished", 0, "tester"));
    expect_number(deleted, 2); /* its row and its task's */
    expect_number(count_of("tp_group WHERE name = 'old'"), 0);
    expect_number(count_of("tp_group WHERE name = 'new'"), 1);
    expect_number(count_of("tp_group_task"), 0);
}

static void see_finding(const tp_finding *finding, void *arg) {
    if (strcmp(finding->name, "groups") == 0) ((int64_t *)arg)[0] = finding->count;
    if (strcmp(finding->name, "closed groups") == 0) ((int64_t *)arg)[1] = finding->count;
    if (strcmp(finding->name, "open groups") == 0) ((int64_t *)arg)[2] = finding->count;
}

TEST(test_groups__that_are_stuck_are_found) {
    int64_t found[3] = {9, 9, 9};
    char ids[1][ID], follow[ID];
    open_with("g", TP_GROUP_ALL_DONE, 1, ids);
    put_after("g", follow);
    must(tp_group_close(pool.a, "g"));
    must(tp_check(pool.a, see_finding, found, NULL));
    expect_number(found[0], 0);
    expect_number(found[1], 0);
    sql_run(pool.eye, "UPDATE tp_group SET closed_at = %" PRId64, (int64_t)LONG_AGO);
    sql_run(pool.eye, "DELETE FROM tp_group_task WHERE waits = 1");
    must(tp_check(pool.a, see_finding, found, NULL));
    expect_number(found[0], 1);
    expect_number(found[1], 1);
}

static void expect_forgotten(int64_t count) {
    int64_t found[3] = {9, 9, 9};
    must(tp_check(pool.a, see_finding, found, NULL));
    expect_number(found[2], count);
}

/* As if it had been so for more than a day. */
TEST(test_groups__that_are_open_and_forgotten_are_found) {
    char ids[1][ID], follow[ID];
    open_with("g", TP_GROUP_ALL_DONE, 1, ids);
    put_after("g", follow);
    complete_this(ids[0]);
    expect_forgotten(0); /* it is a young one */
    sql_run(pool.eye, "UPDATE tp_group SET created_at = %" PRId64, (int64_t)LONG_AGO);
    expect_forgotten(0); /* and so is its task */
    sql_run(pool.eye,
            "UPDATE tp_group_task SET task_id = '01936f5e-8a4c-7b1d-9c3e-5f6a7b8c9d0e' WHERE waits = 0");
    expect_forgotten(1);
    put_row(pool.eye, .id = "01936f5e-8a4c-7b1d-9c3e-5f6a7b8c9d0e");
    expect_forgotten(0); /* it is open */
    sql_run(pool.eye, "DELETE FROM tp_pending WHERE id = '01936f5e-8a4c-7b1d-9c3e-5f6a7b8c9d0e'");
    must(tp_group_open(pool.a, "within", TP_GROUP_ALL_DONE, "g"));
    expect_forgotten(0); /* one within it has not ended */
    must(tp_group_close(pool.a, "within"));
    ended(1);
    expect_forgotten(1);
    must(tp_group_close(pool.a, "g"));
    expect_forgotten(0);
}
