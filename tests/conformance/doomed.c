/* A call that is refused inside a transaction before the database is asked: its half of the work is missing,
 * so the transaction may not be committed, even by a caller who ignores the answer. */
#include "ops/for_workers.h"
#include "suite.h"

THEME(doomed, ONCE);

static struct {
    const tp_task *task;
    struct row before;
    tp_new_task half;
} given;

static void write_half(void) {
    given.half = task_new("half");
    must(tp_begin(pool.a));
    effect(pool.a, given.task->id);
    must(tp_enqueue(pool.a, &given.half));
}

static void check_doomed(tp_status refused, const char *call, int line) {
    tp_status committed = tp_commit(pool.a);
    if (refused != TP_MISUSE || committed != TP_CONFLICT) print_error("line %d: %s\n", line, call);
    expect(TP_MISUSE, refused);
    expect(TP_CONFLICT, committed);
    expect_number(effects_of(given.task->id), 0);
    expect_number(row_of(given.half.id).copies, 0);
    expect_same(given.task->id, &given.before);
}

/* The call is refused, and so is the commit of what was written before it. */
#define dooms(call) (write_half(), check_doomed((call), #call, __LINE__))

static void settles_doom(const tp_task *shown) {
    static const tp_retry bad_policy = {.size = sizeof bad_policy, .jitter = 101};
    const tp_task *with_one_shown[] = {given.task, shown};
    tp_task unclaimed = *given.task;
    unclaimed.owner = "";
    dooms(tp_complete(pool.a, NULL));
    dooms(tp_complete(pool.a, shown));
    dooms(tp_skip(pool.a, &unclaimed, "why"));
    dooms(tp_fail(pool.a, given.task, "why", &bad_policy));
    dooms(tp_give_up(pool.a, NULL, "why"));
    dooms(tp_release(pool.a, given.task, -1));
    dooms(tp_extend(pool.a, given.task, -1));
    dooms(tp_settled(pool.a, NULL));
    dooms(tp_complete_many(pool.a, NULL, 1, NULL));
    dooms(tp_complete_many(pool.a, with_one_shown, 2, NULL));
    dooms(tpi_extend_many(pool.a, &given.task, 1, -1, NULL));
}

static void enqueues_doom(void) {
    tp_new_task for_nobody = task_with(.handler = ""), of_no_size = task_new("x");
    tp_new_task changed = enqueue(pool.eye, .params = "x");
    tp_new_task bad_key[] = {task_new("x"), task_with(.biz_key = "ends with a blank ")};
    tp_new_task two_sizes[] = {task_new("x"), task_new("x")};
    of_no_size.size = two_sizes[1].size = 3;
    changed.params = "y";
    dooms(tp_enqueue(pool.a, NULL));
    dooms(tp_enqueue(pool.a, &for_nobody));
    dooms(tp_enqueue(pool.a, &of_no_size));
    dooms(tp_enqueue(pool.a, &changed));
    dooms(tp_enqueue_many(pool.a, NULL, 2, NULL));
    dooms(tp_enqueue_many(pool.a, bad_key, 2, NULL));
    dooms(tp_enqueue_many(pool.a, two_sizes, 2, NULL));
}

static void others_doom(void) {
    static const tp_task no_id = {.id = "7", .handler = "x"};
    tp_schedule no_rule = {
        .size = sizeof no_rule, .name = "doomed", .handler = pool.handler, .rule = "now and then"};
    tp_claim_request no_handler = {.size = sizeof no_handler, .handler_count = 1};
    dooms(tp_once(pool.a, NULL, NULL));
    dooms(tp_once(pool.a, "key", &no_id));
    dooms(tp_schedule_add(pool.a, NULL));
    dooms(tp_schedule_add(pool.a, &no_rule));
    dooms(tp_schedule_remove(pool.a, ""));
    dooms(tp_schedule_pause(pool.a, NULL, 1));
    dooms(tp_pause(pool.a, "", "tester", "why"));
    dooms(tp_resume(pool.a, NULL, "tester"));
    dooms(try_claim(pool.a, &no_handler));
}

TEST(test_doomed__a_refusal_before_the_database_is_asked_dooms_what_was_written) {
    given.task = put_and_claim(pool.a);
    given.before = row_of(given.task->id);
    settles_doom(task_shown(pool.eye, given.task->id));
    enqueues_doom();
    others_doom();
    must(tp_complete(pool.a, given.task));
}

/* A claim that is known to be lost without asking: of plan hold, once its transaction is over. */
TEST(test_doomed__a_settle_of_what_an_earlier_transaction_held_dooms_this_one) {
    if (!pool_plan_possible("hold")) skip();
    const char *id = put_one();
    must(tp_begin(pool.a));
    const tp_task *task = tp_batch_task(claim_with(pool.a, .limit = 1, .plan = "hold"), 0);
    must(tp_rollback(pool.a));
    for (int many = 0; many < 2; many++) {
        expect_dooms(pool.a, id, TP_LOST,
                     many ? tp_complete_many(pool.a, &task, 1, NULL) : tp_complete(pool.a, task));
        expect_row(id, "pending", "pending", 0);
    }
}
