/* Claims of chosen shards, and of handlers in a chosen order. */
#include "suite.h"

THEME(claim_choice, EACH_PLAN);

/* NULL: nothing was there. */
static tp_batch *ask(tp_conn *conn, tp_claim_request *request) {
    tp_batch *batch = NULL;
    tp_status status = claim_into(conn, request, &batch);
    if (status != TP_NONE) must(status);
    return batch;
}

enum { SHARDS = 5, EACH = 3 };

static void put_shards(void) {
    for (int i = 0; i < SHARDS * EACH; i++) {
        tp_new_task task = task_new("x");
        task.shard = i % SHARDS - 1; /* -1 to 3 */
        must(tp_enqueue(pool.eye, &task));
    }
}

static void expect_of(const int32_t *shards, size_t count) {
    size_t seen[SHARDS] = {0};
    tp_claim_request request = request_with(.limit = 100, .shards = shards, .shard_count = count);
    tp_batch *batch = ask(pool.a, &request);
    expect_count(batch, count * EACH);
    for (size_t i = 0; i < tp_batch_count(batch); i++)
        seen[tp_batch_task(batch, i)->shard + 1]++;
    for (size_t i = 0; i < count; i++)
        expect_number(seen[shards[i] + 1], EACH);
}

TEST(test_claim_choice__takes_only_the_shards_it_was_given) {
    static const int32_t one[] = {2}, three[] = {-1, 0, 3}, none[] = {77, -5};
    put_shards();
    tp_claim_request request = request_with(.limit = 100, .shards = none, .shard_count = 2);
    assert_null(ask(pool.a, &request));
    expect_of(one, 1);
    expect_of(three, 3);
    claim(pool.a, EACH); /* without shards: what is left */
}

TEST(test_claim_choice__two_servers_share_one_handler_by_shards) {
    static const int32_t low[] = {-1, 0, 1}, high[] = {2, 3};
    put_shards();
    tp_claim_request one = request_with(.limit = 100, .shards = low, .shard_count = 3),
                     two = request_with(.limit = 100, .shards = high, .shard_count = 2);
    tp_batch *first = ask(pool.a, &one), *second = ask(pool.b, &two);
    expect_count(first, 3 * EACH);
    expect_count(second, 2 * EACH);
}

TEST(test_claim_choice__the_limit_counts_tasks_of_the_chosen_shards) {
    static const int32_t last[] = {3};
    put_shards();
    tp_claim_request request = request_with(.limit = 2, .shards = last, .shard_count = 1);
    tp_batch *batch = ask(pool.a, &request);
    expect_count(batch, 2);
}

TEST(test_claim_choice__takes_sixty_four_shards_and_no_more) {
    int32_t shards[TP_CLAIM_SHARDS_MAX + 1];
    tp_batch *batch = NULL;
    put_shards();
    for (int i = 0; i <= TP_CLAIM_SHARDS_MAX; i++)
        shards[i] = i;
    tp_claim_request request =
        request_with(.limit = 100, .shards = shards, .shard_count = TP_CLAIM_SHARDS_MAX + 1);
    expect(TP_TOOBIG, claim_into(pool.a, &request, &batch));
    expect_text("65 shards");
    request.shard_count = 0;
    expect(TP_MISUSE, claim_into(pool.a, &request, &batch));
    request.shard_count = TP_CLAIM_SHARDS_MAX;
    batch = claim_by(pool.a, &request);
    expect_count(batch, 4 * EACH);
    request.shards = NULL;
    expect(TP_MISUSE, claim_into(pool.a, &request, &batch));
}

enum { KINDS = 3, OF_EACH = 4 };
static char names[KINDS][TP_HANDLER_MAX];

/* Tasks of the handlers that come last are the most urgent. */
static void put_kinds(const char *handlers[KINDS]) {
    for (int kind = 0; kind < KINDS; kind++) {
        snprintf(names[kind], sizeof names[kind], "%s.%c", pool.handler, 'c' - kind);
        handlers[kind] = names[kind];
    }
    for (int i = 0; i < KINDS * OF_EACH; i++)
        enqueue(pool.eye, .handler = names[i % KINDS], .priority = (i % 2) - 10 * (i % KINDS));
}

static size_t kind_of(const tp_task *task) {
    size_t kind = 0;
    while (strcmp(task->handler, names[kind]) != 0)
        kind++;
    return kind;
}

static void expect_in_order(const tp_batch *batch, size_t first, size_t count) {
    expect_count(batch, count);
    for (size_t i = 0; i < count; i++)
        expect_number(kind_of(tp_batch_task(batch, i)), (first + i) / OF_EACH);
}

TEST(test_claim_choice__handlers_in_order_come_one_after_the_other) {
    const char *handlers[KINDS];
    put_kinds(handlers);
    tp_claim_request request =
        request_with(.limit = OF_EACH + 1, .handlers = handlers, .handler_count = KINDS, .in_order = 1);
    for (size_t first = 0; first < KINDS * OF_EACH; first += OF_EACH + 1) {
        size_t left = KINDS * OF_EACH - first;
        tp_batch *batch = ask(pool.a, &request);
        expect_in_order(batch, first, left < OF_EACH + 1 ? left : OF_EACH + 1);
        for (size_t i = 1; i < tp_batch_count(batch); i++) {
            const tp_task *one = tp_batch_task(batch, i - 1), *two = tp_batch_task(batch, i);
            assert_string_equal(one->owner, two->owner);
            assert_true(kind_of(one) < kind_of(two) || one->priority <= two->priority);
        }
    }
    assert_null(ask(pool.a, &request));
}

TEST(test_claim_choice__handlers_in_order_are_so_when_asked_again) {
    const char *handlers[KINDS];
    char token[ID];
    put_kinds(handlers);
    tp_claim_request request =
        request_with(.limit = OF_EACH * 2 + 1, .handlers = handlers, .handler_count = KINDS, .in_order = 1);
    tp_batch *batch = ask(pool.a, &request);
    expect_in_order(batch, 0, OF_EACH * 2 + 1);
    memcpy(token, tp_batch_task(batch, 0)->owner, ID);
    memcpy(request.token, token, ID);
    batch = ask(pool.b, &request);
    expect_in_order(batch, 0, OF_EACH * 2 + 1);
    assert_string_equal(tp_batch_task(batch, 0)->owner, token);
}

TEST(test_claim_choice__without_order_handlers_come_by_priority) {
    const char *handlers[KINDS];
    put_kinds(handlers);
    tp_claim_request request = request_with(.limit = OF_EACH, .handlers = handlers, .handler_count = KINDS);
    tp_batch *batch = ask(pool.a, &request);
    expect_count(batch, OF_EACH);
    for (size_t i = 0; i < OF_EACH; i++)
        expect_number(kind_of(tp_batch_task(batch, i)), KINDS - 1);
}
