/* What a claim does about rows that another session holds or has just changed. */
#include "base/clock.h"
#include "base/uuid.h"
#include "suite.h"

THEME(claim_locks, EACH_PLAN);

#define FAR_AHEAD "9000000000000"

/* What a rival's claim does to a row, by hand. */
static int64_t take_by_hand(tp_conn *conn, const char *id, char token[ID]) {
    tpi_uuid_random(token);
    return sql_run(conn,
                   "UPDATE tp_pending SET state = 'handling', owner = '%s', due_at = " FAR_AHEAD
                   " WHERE id = '%s' AND state = 'pending'",
                   token, id);
}

static bool passes_locks(void) {
    return !pool_on_sqlite() && (strcmp(pool.plan, "row") == 0 || strcmp(pool.plan, "skip") == 0);
}

static void expect_owner(const char *id, const char *token) {
    struct row row = row_of(id);
    expect_row(id, "pending", "handling", 0);
    assert_string_equal(row.owner, token);
}

/* Two or many tasks in all: databases choose their plans by the table's size. */
static void expect_past(size_t tasks) {
    static char ids[200][ID];
    pool_empty();
    task_put_many(tasks, ids);
    pool_measure();
    pool_fail_waits(pool.a);
    must(tp_begin(pool.b));
    sql_run(pool.b, "SELECT id FROM tp_pending WHERE id = '%s' FOR UPDATE", ids[0]);
    tp_batch *batch = claim_up_to(pool.a, tasks);
    expect_count(batch, tasks - 1);
    assert_false(batch_holds(batch, ids[0]));
    must(tp_rollback(pool.b));
    claim_this(pool.a, ids[0]);
}

TEST(test_claim_locks__row_and_skip_go_past_rows_another_session_holds) {
    if (!passes_locks()) return;
    expect_past(2);
    expect_past(12);
    expect_past(200);
}

/* A claim takes a lock that was waited for in vain for somebody else's, so the time alone tells. */
TEST(test_claim_locks__row_and_skip_do_not_wait_for_a_held_row) {
    enum { LIMIT_MS = 5000, AT_ONCE_MS = 2000, TRIES = 5 };
    if (!passes_locks()) return;
    const char *id = put_one();
    int64_t ms = LIMIT_MS;
    (void)engine_limit_waits(pool.a, LIMIT_MS);
    must(tp_begin(pool.b));
    sql_run(pool.b, "SELECT id FROM tp_pending WHERE id = '%s' FOR UPDATE", id);
    for (int i = 0; i < TRIES && ms > AT_ONCE_MS; i++) {
        int64_t began = tpi_clock_mono_ms();
        expect_nothing(pool.a);
        ms = tpi_clock_mono_ms() - began;
    }
    must(tp_rollback(pool.b));
    must(tp_conn_reopen(pool.a));
    assert_in_range(ms, 0, AT_ONCE_MS);
    claim_this(pool.a, id);
}

/* While one session has a part of them, another gets all the rest at once. */
static void expect_rest(size_t tasks, const char *const *handlers) {
    tp_claim_request request = claim_request(tasks), few = claim_request(tasks / 4);
    pool_empty();
    for (size_t i = 0; i < tasks; i++)
        enqueue(pool.eye, .handler = handlers[i % 2]);
    pool_measure();
    request.handlers = few.handlers = handlers;
    request.handler_count = few.handler_count = 2;
    few.plan = "hold";
    pool_fail_waits(pool.a);
    must(tp_begin(pool.b));
    tp_batch *held = claim_by(pool.b, &few);
    tp_batch *batch = claim_by(pool.a, &request);
    expect_count(batch, tasks - tasks / 4);
    for (size_t i = 0; i < tp_batch_count(held); i++)
        assert_false(batch_holds(batch, tp_batch_task(held, i)->id));
    must(tp_rollback(pool.b));
}

TEST(test_claim_locks__row_and_skip_take_the_rest_of_several_handlers) {
    char name[TP_HANDLER_MAX];
    const char *handlers[] = {pool.handler, name};
    if (!passes_locks()) return;
    snprintf(name, sizeof name, "%s.other", pool.handler);
    expect_rest(4, handlers);
    expect_rest(40, handlers);
    expect_rest(200, handlers);
}

TEST(test_claim_locks__one_held_row_does_not_hide_the_next_from_a_claim_of_one) {
    char ids[2][ID];
    if (!passes_locks()) return;
    pool_empty();
    task_put_many(2, ids);
    pool_measure();
    must(tp_begin(pool.b));
    sql_run(pool.b, "SELECT id FROM tp_pending WHERE id = '%s' FOR UPDATE", ids[0]);
    claim_this(pool.a, ids[1]);
    must(tp_rollback(pool.b));
}

/* Rows that are no business of the claim: of another handler, or not due. */
TEST(test_claim_locks__rows_it_does_not_want_are_no_obstacle) {
    tp_new_task other = task_new("x"), later = task_new("x");
    char name[40];
    if (pool_on_sqlite() || ((pool_on_mariadb() || prepared()) && strcmp(pool.plan, "batch") == 0))
        return; /* batch waits there */
    tp_conn *guest = guest_session();
    snprintf(name, sizeof name, "%s.other", pool.handler);
    other.handler = name;
    later.due_at = LONG_AGO * 9;
    pool_empty();
    must(tp_enqueue(pool.a, &other));
    must(tp_enqueue(pool.a, &later));
    const char *id = put_one();
    pool_measure();
    must(tp_begin(pool.b));
    sql_run(pool.b, "SELECT id FROM tp_pending WHERE id = '%s' FOR UPDATE", other.id);
    sql_run(pool.b, "SELECT id FROM tp_pending WHERE id = '%s' FOR UPDATE", later.id);
    claim_this(guest, id);
    must(tp_rollback(pool.b));
}

/* The rival changed the row and has not committed: a claim that meets the lock is refused at once, and one
 * after the commit sees it. */
TEST(test_claim_locks__a_changed_row_is_refused_before_and_after_the_commit) {
    char ids[2][ID], token[ID];
    if (!passes_locks()) return;
    pool_empty();
    task_put_many(2, ids);
    pool_measure();
    pool_fail_waits(pool.a);
    must(tp_begin(pool.b));
    expect_number(take_by_hand(pool.b, ids[0], token), 1);
    tp_batch *batch = claim_up_to(pool.a, 10);
    expect_count(batch, 1);
    assert_false(batch_holds(batch, ids[0]));
    must(tp_commit(pool.b));
    expect_nothing(pool.a);
    expect_owner(ids[0], token);
}

struct waiting {
    tp_claim_request request;
    tp_batch *batch;
};

static tp_status claim_call(tp_conn *conn, void *arg) {
    struct waiting *waiting = arg;
    return tp_claim(conn, &waiting->request, &waiting->batch);
}

/* The same for plans that wait for the lock (on SQLite all do): the claim comes in while the rival has not
 * committed, and goes on when it has. */
TEST(test_claim_locks__the_recheck_sees_what_the_other_committed_meanwhile) {
    char ids[2][ID], token[ID];
    struct waiting waiting = {.request = claim_request(10)};
    struct aside aside;
    task_put_many(2, ids);
    must(tp_begin(pool.b));
    expect_number(take_by_hand(pool.b, ids[0], token), 1);
    start_blocked(&aside, pool.a, claim_call, &waiting);
    must(tp_commit(pool.b));
    tp_status status = aside_end(&aside);
    if (status == TP_NONE) must(claim_call(pool.a, &waiting)); /* it may have missed the other one, too */
    expect_number(tp_batch_count(waiting.batch), 1);
    assert_string_equal(tp_batch_task(waiting.batch, 0)->id, ids[1]);
    expect_owner(ids[0], token);
    tp_batch_free(waiting.batch);
}

TEST(test_claim_locks__a_rolled_back_rival_leaves_the_task_to_others) {
    char token[ID];
    struct waiting waiting = {.request = claim_request(10)};
    struct aside aside;
    const char *id = put_one();
    must(tp_begin(pool.b));
    expect_number(take_by_hand(pool.b, id, token), 1);
    start_blocked(&aside, pool.a, claim_call, &waiting);
    must(tp_rollback(pool.b));
    if (aside_end(&aside) == TP_NONE) must(claim_call(pool.a, &waiting));
    assert_true(batch_holds(waiting.batch, id));
    tp_batch_free(waiting.batch);
}

/* Plans that look first and take task by task: the rival commits between the look and the last task's turn.
 * Not shown when the rival is late, or a claim that takes long ends before that turn. */
static bool recheck_last(void) {
    enum { MANY = 500 };
    static char ids[MANY][ID];
    char token[ID];
    struct waiting waiting = {.request = claim_request(MANY)};
    struct aside aside;
    sql_run(pool.eye, "DELETE FROM tp_pending");
    task_put_many(MANY, ids);
    aside_start(&aside, pool.a, claim_call, &waiting);
    while (!atomic_load(&aside.ended) &&
           count_of("tp_pending WHERE id = '%s' AND state = 'handling'", ids[0]) == 0)
        continue;
    bool in_time = take_by_hand(pool.b, ids[MANY - 1], token) == 1;
    must(aside_end(&aside));
    if (in_time) {
        assert_false(batch_holds(waiting.batch, ids[MANY - 1]));
        expect_owner(ids[MANY - 1], token);
    }
    bool to_the_end = batch_holds(waiting.batch, ids[MANY - 2]);
    tp_batch_free(waiting.batch);
    return in_time && to_the_end;
}

TEST(test_claim_locks__a_task_taken_after_the_look_is_not_taken_again) {
    bool shown = false;
    if (strcmp(pool.plan, "row") != 0 && strcmp(pool.plan, "cas") != 0) return;
    for (int try = 0; try < 40 && !shown; try++)
        shown = recheck_last();
    assert_true(shown);
}

/* SQLite has one writer: a claim waits for it, and when that takes too long it takes nothing. */
TEST(test_claim_locks__sqlites_one_writer_makes_a_claim_wait_not_fail_half) {
    char ids[2][ID];
    tp_claim_request request = claim_request(2);
    tp_batch *batch = NULL;
    if (!pool_on_sqlite()) return;
    tp_conn *guest = guest_session();
    task_put_many(2, ids);
    must(tp_begin(pool.b));
    tp_status status = claim_into(guest, &request, &batch);
    assert_true(status == TP_NONE || status == TP_TIMEOUT);
    assert_null(batch);
    must(tp_rollback(pool.b));
    expect_row(ids[0], "pending", "pending", 0);
    batch = claim_by(guest, &request);
    expect_count(batch, 2);
}

/* A plan that waits at each row, here for a second, might wait longer than the lease of the first it took. */
TEST(test_claim_locks__waiting_for_some_does_not_use_up_the_lease_of_others) {
    enum { HELD = 5 };
    if (strcmp(pool.plan, "cas") != 0 || pool_on_sqlite()) return;
    tp_conn *guest = guest_session();
    if (!engine_limit_waits(guest, 1000)) {
        not_tried("waits for locks that end after a second");
        return;
    }
    char ids[HELD + 1][ID];
    task_put_many(HELD + 1, ids);
    must(tp_begin(pool.b));
    for (size_t i = 1; i <= HELD; i++)
        sql_run(pool.b, "UPDATE tp_pending SET shard = 1 WHERE id = '%s'", ids[i]);
    tp_batch *batch = claim_with(guest, .limit = HELD + 1, .lease_ms = 3000);
    must(tp_rollback(pool.b));
    expect_count(batch, 1);
    assert_string_equal(tp_batch_task(batch, 0)->id, ids[0]);
    int64_t lapses = row_of(ids[0]).due_at, now = 0;
    tp_batch *others = claim_up_to(pool.a, HELD + 1);
    must(tp_now(pool.a, &now));
    if (now >= lapses) return; /* a machine that took so long for the rest tells nothing */
    assert_false(batch_holds(others, ids[0]));
    must(tp_complete(guest, tp_batch_task(batch, 0)));
}
