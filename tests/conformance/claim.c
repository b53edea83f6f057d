/* What a claim takes, and what it writes. */
#include "ops/conn.h"
#include "suite.h"

THEME(claim, EACH_PLAN);

TEST(test_claim__none_when_nothing_is_there) {
    expect_nothing(pool.a);
}

TEST(test_claim__marks_the_row_with_token_lease_and_state) {
    const char *id = put_one();
    tp_claim_request request = request_with(.limit = 1, .lease_ms = 90000);
    const tp_task *task = tp_batch_task(claim_by(pool.a, &request), 0);
    struct row row = row_of(id);
    expect_row(id, "pending", "handling", 0);
    assert_string_equal(row.owner, task->owner);
    assert_string_equal(task->state, "handling");
    assert_string_equal(request.token, "");
    /* A clock that the client carries on may be behind, and must not shorten a lease. */
    int64_t behind_ms = pool.a->store.clock.behind_ms;
    assert_in_range(row.due_at - row.modified_at, 89900, 90100 + behind_ms);
}

TEST(test_claim__each_has_a_token_of_its_own) {
    const tp_task *one = put_and_claim(pool.a);
    const tp_task *two = put_and_claim(pool.a);
    assert_string_not_equal(one->owner, two->owner);
    assert_int_equal(strlen(one->owner), ID - 1);
}

TEST(test_claim__hands_out_all_that_was_enqueued) {
    tp_new_task task = enqueue(pool.a, .params = "what to do", .biz_key = "order-17", .shard = 7,
                               .priority = -3, .max_failures = 9);
    const tp_task *got = claim_one(pool.a);
    assert_string_equal(got->id, task.id);
    assert_string_equal(got->handler, pool.handler);
    assert_string_equal(got->params, "what to do");
    assert_string_equal(got->biz_key, "order-17");
    assert_string_equal(got->reason, "");
    expect_number(got->shard, 7);
    expect_number(got->priority, -3);
    expect_number(got->max_failures, 9);
    expect_number(got->failures, 0);
    assert_true(got->created_at > LONG_AGO);
}

TEST(test_claim__takes_what_is_claimed_only_once) {
    put_and_claim(pool.a);
    expect_nothing(pool.b);
    expect_nothing(pool.a);
}

TEST(test_claim__future_tasks_wait) {
    tp_new_task later = task_new("x"), at = task_new("x"), now = task_new("x");
    later.due_at = 0;
    later.delay_ms = 3600000;
    must(tp_enqueue(pool.a, &later));
    at.due_at = row_of(later.id).due_at + 5000;
    must(tp_enqueue(pool.a, &at));
    expect_number(row_of(at.id).due_at, at.due_at);
    expect_nothing(pool.a);
    must(tp_enqueue(pool.a, &now));
    claim_this(pool.a, now.id);
    expect_nothing(pool.a);
    row_make_due(later.id);
    claim_this(pool.a, later.id);
    expect_nothing(pool.a);
}

TEST(test_claim__a_delay_counts_from_the_databases_now) {
    tp_new_task task = enqueue(pool.a, .delay_ms = 7000);
    int64_t created = sql_number(pool.eye, "SELECT created_at FROM tp_pending WHERE id = '%s'", task.id);
    assert_in_range(row_of(task.id).due_at - created, 6950, 7050);
}

static int64_t time_of(struct tpi_store *store) {
    int64_t now = 0;
    must(tpi_store_now(store, &now));
    return now;
}

/* One of whole seconds may say less than was carried on. One that was set back is followed. */
TEST(test_claim__a_carried_clock_that_is_asked_for_again_does_not_go_back) {
    enum { AHEAD_MS = 1100, OLD_MS = 60000 };
    struct tpi_store *store = &pool.a->store;
    if (!(store->caps & TPI_CAP_CLIENT_CLOCK)) skip();
    int64_t now = time_of(store);
    store->clock.database_ms += AHEAD_MS;
    int64_t said = time_of(store);
    assert_true(said >= now + AHEAD_MS);
    store->clock.database_ms -= OLD_MS;
    store->clock.boot_ms -= OLD_MS;
    assert_true(time_of(store) >= said);
    store->clock.said_ms += OLD_MS;
    assert_true(time_of(store) < said + OLD_MS);
    tpi_store_forget(store); /* as a new session does, whose server may be another */
    expect_number(store->clock.said_ms, 0);
}

TEST(test_claim__takes_only_the_handlers_it_was_given) {
    enum { KINDS = 3 };
    char names[KINDS][TP_HANDLER_MAX], ids[KINDS][ID];
    for (int i = 0; i < KINDS; i++) {
        snprintf(names[i], sizeof names[i], "%s.%c", pool.handler, 'a' + i);
        tp_new_task task = enqueue(pool.a, .handler = names[i]);
        memcpy(ids[i], task.id, ID);
    }
    const char *two[] = {names[0], names[2]};
    tp_batch *batch = claim_with(pool.a, .limit = 10, .handlers = two, .handler_count = 2);
    expect_count(batch, 2);
    assert_true(batch_holds(batch, ids[0]) && batch_holds(batch, ids[2]));
    expect_row(ids[1], "pending", "pending", 0);
}

TEST(test_claim__handler_names_are_told_apart_by_case_and_in_full) {
    char upper[TP_HANDLER_MAX], longer[TP_HANDLER_MAX];
    snprintf(upper, sizeof upper, "T%s", pool.handler + 1);
    snprintf(longer, sizeof longer, "%s.x", pool.handler);
    tp_new_task task = enqueue(pool.a, .handler = upper);
    task = task_new("x");
    task.handler = longer;
    must(tp_enqueue(pool.a, &task));
    expect_nothing(pool.a);
}

TEST(test_claim__takes_sixty_four_handlers_and_no_more) {
    char names[TP_CLAIM_HANDLERS_MAX + 1][TP_HANDLER_MAX];
    const char *list[TP_CLAIM_HANDLERS_MAX + 1];
    tp_batch *batch = NULL;
    for (int i = 0; i <= TP_CLAIM_HANDLERS_MAX; i++) {
        snprintf(names[i], sizeof names[i], "%s.%d", pool.handler, i);
        list[i] = names[i];
    }
    tp_new_task task = enqueue(pool.a, .handler = names[TP_CLAIM_HANDLERS_MAX - 1]);
    tp_claim_request request =
        request_with(.limit = 10, .handlers = list, .handler_count = TP_CLAIM_HANDLERS_MAX + 1);
    expect(TP_TOOBIG, claim_into(pool.a, &request, &batch));
    request.handler_count = TP_CLAIM_HANDLERS_MAX;
    batch = claim_by(pool.a, &request);
    assert_true(batch_holds(batch, task.id));
}

TEST(test_claim__the_limit_holds_up_to_a_thousand) {
    tp_claim_request request = claim_request(TP_CLAIM_MAX + 1);
    tp_batch *batch = NULL;
    expect(TP_TOOBIG, claim_into(pool.a, &request, &batch));
    task_put_many(TP_CLAIM_MAX + 5, NULL);
    request.limit = TP_CLAIM_MAX;
    request.lease_ms = 10 * 60 * 1000; /* a slow claim stops before its first leases have run down */
    batch = claim_by(pool.a, &request);
    expect_count(batch, TP_CLAIM_MAX);
    claim(pool.b, 3);
    batch = claim_up_to(pool.a, 10);
    expect_count(batch, 2);
}

TEST(test_claim__is_refused_inside_a_transaction) {
    tp_claim_request request = claim_request(1);
    const char *id = put_one();
    must(tp_begin(pool.a));
    expect(TP_MISUSE, try_claim(pool.a, &request));
    must(tp_rollback(pool.a));
    expect_row(id, "pending", "pending", 0);
    claim(pool.a, 1);
}

/* How many statements a claim takes that finds nothing. Now and then one more says what is paused. */
static uint64_t cost_of_nothing(tp_claim_request *request) {
    uint64_t least = UINT64_MAX;
    for (int i = 0; i < 3; i++) {
        uint64_t before = tp_conn_counters(pool.a)->statements;
        expect(TP_NONE, try_claim(pool.a, request));
        uint64_t cost = tp_conn_counters(pool.a)->statements - before;
        if (cost < least) least = cost;
    }
    return least;
}

TEST(test_claim__that_finds_nothing_is_one_statement) {
    const char *handlers[] = {pool.handler, "another", "a-third"};
    tp_claim_request request = request_with(.limit = 100, .handlers = handlers);
    for (request.handler_count = 1; request.handler_count <= 3; request.handler_count += 2)
        for (request.in_order = 0; request.in_order < 2; request.in_order++)
            expect_number(cost_of_nothing(&request), 1);
}
