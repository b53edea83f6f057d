/* A claim finds what is due among the lanes of its handlers: priorities, and shards where they are asked for.
 * Every plan, hold in a transaction. */
#include "base/clock.h"
#include "ops/conn.h"
#include "ops/for_workers.h"
#include "suite.h"

THEME(claim_lanes, ONCE);

enum { HANDLERS = 40 };
static char names[HANDLERS][TP_HANDLER_MAX + 1];
static const char *handlers[HANDLERS];

static void put(size_t handler, int32_t priority, int32_t shard, int due, char id[ID]) {
    tp_new_task task = enqueue(pool.eye, .handler = handlers[handler], .priority = priority, .shard = shard,
                               .due_at = LONG_AGO + due * 1000);
    if (id) memcpy(id, task.id, ID);
}

/* So many, all after what put() has put at 0. */
static void put_due(size_t handler, size_t count) {
    tp_new_task tasks[100];
    assert_in_range(count, 1, 100);
    for (size_t i = 0; i < count; i++) {
        tasks[i] = task_new("x");
        tasks[i].handler = handlers[handler];
        tasks[i].due_at = LONG_AGO + 1000;
    }
    must(tp_enqueue_many(pool.eye, tasks, count, NULL));
}

/* Far in the future. */
static void put_late(size_t handler, int32_t priority, int32_t shard) {
    enqueue(pool.eye, .handler = handlers[handler], .priority = priority, .shard = shard,
            .delay_ms = 1000000);
}

/* Claims by pool.a, which knows that such tasks have come (NULL: nothing), and settles; gives the first id.
 * The answer is the number of tasks. */
static size_t take_known(const char *plan, tp_claim_request *request, const struct tpi_arrival *known,
                         char first[ID]) {
    tp_batch *batch = NULL;
    bool holds = pool_plan_holds(plan);
    request->plan = plan;
    if (holds) must(tp_begin(pool.a));
    tp_status status = tpi_claim_known(pool.a, request, known, NULL, &batch);
    if (status != TP_NONE) expect(TP_OK, status);
    size_t count = batch ? tp_batch_count(batch) : 0;
    if (count) memcpy(first, tp_batch_task(batch, 0)->id, ID);
    for (size_t i = 0; i < count; i++)
        must(tp_complete(pool.a, tp_batch_task(batch, i)));
    if (holds) must(tp_commit(pool.a));
    tp_batch_free(batch);
    return count;
}

static size_t take(const char *plan, tp_claim_request *request, char first[ID]) {
    return take_known(plan, request, NULL, first);
}

static void take_this_known(const char *plan, tp_claim_request *request, const struct tpi_arrival *known,
                            const char *id) {
    char first[ID] = "";
    expect_number(take_known(plan, request, known, first), 1);
    assert_string_equal(first, id);
}

static void take_this(const char *plan, tp_claim_request *request, const char *id) {
    take_this_known(plan, request, NULL, id);
}

static void for_each_plan(void (*test)(const char *plan)) {
    for (size_t i = 0; i < HANDLERS; i++) {
        snprintf(names[i], sizeof names[i], "%.40s-%zu", pool.handler, i);
        handlers[i] = names[i];
    }
    for (size_t i = 0; i < PLANS; i++)
        if (pool_plan_possible(pool_plans[i])) test(pool_plans[i]);
}

/* A test in one run, with each plan in turn. */
#define TEST_OF_PLANS(name)                                                                                  \
    static void name##_of(const char *plan);                                                                 \
    TEST(name) {                                                                                             \
        for_each_plan(name##_of);                                                                            \
    }                                                                                                        \
    static void name##_of(const char *plan)

static tp_claim_request request_of(size_t handler_count, size_t limit) {
    tp_claim_request request = TP_CLAIM_INIT;
    request.handlers = handlers;
    request.handler_count = handler_count;
    request.limit = limit;
    return request;
}

/* A claim knows the lane that filled the last one. */
TEST_OF_PLANS(test_claim_lanes__an_urgent_task_that_comes_later_is_next) {
    char normal[4][ID], urgent[ID];
    tp_claim_request request = request_of(1, 1);
    for (int i = 0; i < 4; i++)
        put(0, 5, 0, i, normal[i]);
    take_this(plan, &request, normal[0]);
    take_this(plan, &request, normal[1]);
    put(0, 4, 0, 9, urgent);
    take_this(plan, &request, urgent);
    take_this(plan, &request, normal[2]);
    put(0, -32768, 0, 9, urgent);
    take_this(plan, &request, urgent);
    put_late(0, -1, 0);
    take_this(plan, &request, normal[3]);
    expect_number(take(plan, &request, urgent), 0);
    pool_empty();
}

TEST_OF_PLANS(test_claim_lanes__what_is_not_due_holds_up_nothing) {
    char ids[3][ID], first[ID];
    tp_claim_request request = request_of(2, 10);
    for (int32_t priority = -3; priority < 9; priority++)
        put_late((size_t)(priority & 1), priority, 0);
    put(0, 2, 0, 0, ids[0]);
    put(1, 7, 0, 0, ids[1]);
    put(1, 20, 0, 0, ids[2]);
    assert_int_equal(tpi_any_due(pool.a, &request, NULL), TP_OK);
    expect_number(take(plan, &request, first), 3);
    assert_string_equal(first, ids[0]);
    expect_number(take(plan, &request, first), 0);
    assert_int_equal(tpi_any_due(pool.a, &request, NULL), TP_NONE);
    assert_int_equal(tpi_any_open(pool.a, &request), TP_OK);
    pool_empty();
}

/* handler NULL: nothing. */
static void expect_seen(const tp_claim_request *request, const char *handler, int32_t priority) {
    struct tpi_arrival seen = {NULL, 0};
    must(tpi_any_due(pool.a, request, &seen));
    assert_ptr_equal(seen.handler, handler); /* it outlives the call */
    if (handler) expect_number(seen.priority, priority);
}

TEST_OF_PLANS(test_claim_lanes__a_look_names_what_a_claim_takes_first_and_alone) {
    char ids[5][ID];
    tp_claim_request request = request_of(3, 1);
    put(0, 5, 0, 1, ids[0]);
    expect_seen(&request, handlers[0], 5);
    put(1, 9, 0, 0, ids[1]);
    expect_seen(&request, handlers[0], 5);
    put(2, 5, 0, 0, ids[2]);
    expect_seen(&request, NULL, 0);
    put(1, -3, 0, 2, ids[3]);
    expect_seen(&request, handlers[1], -3);
    put_late(0, 2, 0);
    put(0, 3, 0, 0, ids[4]);
    expect_seen(&request, handlers[1], -3);
    static const int order[] = {3, 4, 2, 0, 1};
    for (size_t i = 0; i < 5; i++)
        take_this(plan, &request, ids[order[i]]);
    pool_empty();
}

/* A claim of what is known leaves that handler alone; and where a statement gives the first lane of each
 * handler, its second one may be the more urgent one. */
TEST_OF_PLANS(test_claim_lanes__a_look_names_nothing_behind_a_lane_that_waits) {
    char ids[2][ID];
    tp_claim_request request = request_of(2, 1);
    put_late(0, 1, 0);
    put(0, 2, 0, 0, ids[0]);
    put(1, 7, 0, 0, ids[1]);
    expect_seen(&request, NULL, 0);
    take_this(plan, &request, ids[0]);
    take_this(plan, &request, ids[1]);
    pool_empty();
}

/* Some plans take several lanes in another way than one. */
TEST_OF_PLANS(test_claim_lanes__one_lane_and_several_go_into_one_claim) {
    char ids[5][ID], first[ID];
    tp_claim_request request = request_of(2, 10);
    put(0, 0, 0, 0, ids[0]);
    put(0, 1, 0, 0, ids[1]);
    put(1, 1, 0, 0, ids[2]);
    put(1, 2, 0, 0, ids[3]);
    put(0, 3, 0, 0, ids[4]);
    expect_number(take(plan, &request, first), 5);
    assert_string_equal(first, ids[0]);
    for (size_t i = 0; i < 5; i++)
        expect_row(ids[i], "finished", "done", 0);
    pool_empty();
}

/* Not the first lane of each handler before the second of one. */
TEST_OF_PLANS(test_claim_lanes__the_more_urgent_ones_of_one_handler_go_first) {
    char ids[4][ID], first[ID];
    tp_claim_request request = request_of(2, 3);
    put_late(0, -2, 0);
    for (int i = 0; i < 3; i++)
        put(0, i, 0, 0, ids[i]);
    put(1, 3, 0, 0, ids[3]);
    expect_number(take(plan, &request, first), 3);
    for (size_t i = 0; i < 3; i++)
        expect_row(ids[i], "finished", "done", 0);
    take_this(plan, &request, ids[3]);
    pool_empty();
}

/* A claim that is told of a lane takes that alone, and another that finds nothing there takes all. Did the
 * first ask less? */
static bool spares_asking(const char *plan) {
    char ids[3][ID];
    tp_claim_request request = request_of(2, 10);
    struct tpi_arrival known = {names[0], 5};
    put(0, 5, 0, 0, ids[0]);
    put(1, 0, 0, 0, ids[1]);
    put(1, 9, 0, 0, ids[2]);
    uint64_t before = tp_conn_counters(pool.a)->statements;
    take_this_known(plan, &request, &known, ids[0]);
    uint64_t one = tp_conn_counters(pool.a)->statements - before;
    request.limit = 1;
    take_this_known(plan, &request, &known, ids[1]);
    uint64_t both = tp_conn_counters(pool.a)->statements - before - one;
    take_this_known(plan, &request, &known, ids[2]);
    pool_empty();
    return one < both;
}

/* Now and then one more says what is paused, or what the time is. */
TEST_OF_PLANS(test_claim_lanes__a_lane_that_is_known_spares_asking_for_all) {
    bool spares = false;
    for (int i = 0; i < 20 && !spares; i++)
        spares = spares_asking(plan);
    sure(spares, "plan %s: a claim that knows its lane asks for all", plan);
}

/* It would bring the handlers out of their order, or is nothing that was asked for. */
TEST_OF_PLANS(test_claim_lanes__a_lane_that_was_not_asked_for_is_not_taken) {
    char ids[4][ID], first[ID];
    static const int32_t shards[] = {7};
    tp_claim_request request = request_of(2, 10);
    struct tpi_arrival known = {names[1], 0};
    put(0, 0, 0, 1, ids[0]);
    put(1, 0, 0, 0, ids[1]);
    put(1, 0, 7, 0, ids[2]);
    put(2, 0, 0, 0, ids[3]);
    request.shards = shards;
    request.shard_count = 1;
    take_this_known(plan, &request, &known, ids[2]);
    request.shards = NULL;
    request.shard_count = 0;
    request.in_order = 1;
    expect_number(take_known(plan, &request, &known, first), 2);
    assert_string_equal(first, ids[0]);
    known.handler = names[2];
    expect_number(take_known(plan, &request, &known, first), 0);
    pool_empty();
}

/* More lanes than one statement asks for. */
TEST_OF_PLANS(test_claim_lanes__of_many_handlers_the_oldest_task_is_next) {
    char ids[HANDLERS][ID], first[ID];
    tp_claim_request request = request_of(HANDLERS, 1);
    for (size_t i = 0; i < HANDLERS; i++)
        put(i, 0, 0, HANDLERS - (int)i, ids[i]);
    for (size_t i = HANDLERS; i-- > HANDLERS - 5;)
        take_this(plan, &request, ids[i]);
    request.limit = HANDLERS;
    expect_number(take(plan, &request, first), HANDLERS - 5);
    pool_empty();
}

TEST_OF_PLANS(test_claim_lanes__of_some_shards_the_first_is_next) {
    static const int32_t wanted[] = {3, 5, 0};
    char ids[4][ID], first[ID];
    tp_claim_request request = request_of(2, 1);
    request.shards = wanted;
    request.shard_count = 3;
    for (int i = 0; i < 10; i++)
        put(0, -1, 7, i, NULL); /* another worker's */
    put_late(0, -5, 3);
    put(0, 2, 3, 1, ids[1]);
    put(1, 2, 5, 2, ids[2]);
    put(0, 9, 5, 0, ids[3]);
    put(1, 2, 0, 0, ids[0]);
    for (int i = 0; i < 4; i++)
        take_this(plan, &request, ids[i]);
    expect_number(take(plan, &request, first), 0);
    request.shards = NULL;
    request.shard_count = 0;
    request.limit = 100;
    expect_number(take(plan, &request, first), 10);
    pool_empty();
}

/* Tasks of no shard in particular stand in another index than those of the others. */
TEST_OF_PLANS(test_claim_lanes__shard_0_is_claimed_alone_and_with_others) {
    static const int32_t wanted[] = {0, 7};
    enum { EACH = 4 };
    char ids[2 * EACH][ID], first[ID];
    tp_claim_request request = request_of(1, 1);
    request.shards = wanted;
    for (int i = 0; i < 2 * EACH; i++)
        put(0, 2, wanted[i % 2], i, ids[i]);
    put(0, 1, 8, 0, NULL); /* another worker's, more urgent */
    request.shard_count = 1;
    take_this(plan, &request, ids[0]);
    take_this(plan, &request, ids[2]);
    request.shard_count = 2;
    for (int i = 0; i < 4; i++)
        take_this(plan, &request, ids[i < 2 ? 2 * i + 1 : i + 2]);
    request.limit = 10;
    expect_number(take(plan, &request, first), 2);
    assert_string_equal(first, ids[2 * EACH - 2]);
    put(0, 2, 7, 0, NULL);
    request.shard_count = 1;
    assert_int_equal(tpi_any_due(pool.a, &request, NULL), TP_NONE);
    assert_int_equal(tpi_any_open(pool.a, &request), TP_NONE);
    expect_number(take(plan, &request, first), 0);
    request.shard_count = 2;
    assert_int_equal(tpi_any_due(pool.a, &request, NULL), TP_OK);
    assert_int_equal(tpi_any_open(pool.a, &request), TP_OK);
    request.shards = NULL;
    request.shard_count = 0;
    expect_number(take(plan, &request, first), 2);
    pool_empty();
}

/* More scopes than one statement asks for. */
TEST_OF_PLANS(test_claim_lanes__of_many_handlers_and_shards_few_statements_find_what_is_due) {
    enum { SHARDS = 20, STATEMENTS = 20 };
    int32_t wanted[SHARDS];
    char id[ID];
    tp_claim_request request = request_of(HANDLERS, 1);
    for (int32_t i = 0; i < SHARDS; i++)
        wanted[i] = i;
    request.shards = wanted;
    request.shard_count = SHARDS;
    put(HANDLERS - 1, 0, SHARDS, 0, NULL); /* another worker's */
    put(HANDLERS - 1, 0, SHARDS - 1, 1, id);
    take_this(plan, &request, id);
    uint64_t before = tp_conn_counters(pool.a)->statements;
    assert_int_equal(tpi_any_due(pool.a, &request, NULL), TP_NONE);
    assert_in_range(tp_conn_counters(pool.a)->statements - before, 1, STATEMENTS);
    pool_empty();
}

/* ---- What comes before the known ones ---------------------------------------------------------------- */

static bool is_done(const char *id) {
    return count_of("tp_finished WHERE id = '%s'", id) == 1;
}

/* A connection looks for earlier tasks once a second, and less often where that look takes long. Every claim
 * is filled. */
TEST_OF_PLANS(test_claim_lanes__an_earlier_task_is_next_within_a_second) {
    enum { STEP = 10, SECOND_MS = 1000, TIMES = 9 };
    char early[ID], first[ID];
    tp_claim_request request = request_of(1, STEP);
    put_due(0, 3 * STEP);
    int64_t began = tpi_clock_mono_ms();
    expect_number(take(plan, &request, first), STEP);
    int64_t now = tpi_clock_mono_ms(), most = (now - began) * TIMES;
    sure(pool.a->known_lane.until_ms <= now + (most > SECOND_MS ? most : SECOND_MS),
         "plan %s: an earlier task is left out", plan);
    put(0, 0, 0, -1, early);
    for (bool looks = false; !looks && !is_done(early);) {
        put_due(0, STEP);
        looks = tpi_clock_mono_ms() >= pool.a->known_lane.until_ms;
        expect_number(take(plan, &request, first), STEP);
    }
    sure(is_done(early), "plan %s: an earlier task is left out by a claim that looks", plan);
    pool_empty();
}

TEST_OF_PLANS(test_claim_lanes__an_earlier_task_is_next_when_few_are_due) {
    char early[ID], first[ID];
    tp_claim_request request = request_of(1, 1);
    put_due(0, 3);
    expect_number(take(plan, &request, first), 1);
    put(0, 0, 0, -1, early);
    request.limit = 10;
    expect_number(take(plan, &request, first), 3);
    assert_true(is_done(early));
    pool_empty();
}
