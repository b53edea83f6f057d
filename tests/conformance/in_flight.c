/* A commit that is still under way when its answer is given up for lost: the same work in a second
 * transaction must not be stored as well. */
#include "suite.h"

THEME(in_flight, EACH_PLAN);

/* As a worker does it: begin, the application's effect, the settle. */
static tp_status pay(tp_conn *conn, void *arg) {
    const tp_task *task = arg;
    tp_status status = tp_begin(conn);
    if (status != TP_OK) return status;
    if (!sql_try(conn, "INSERT INTO tp_fx (task_id, note) VALUES ('%s', 'again')", task->id)) return TP_DB;
    return tp_complete(conn, task);
}

TEST(test_in_flight__a_later_transaction_is_refused_what_an_earlier_one_settles) {
    struct aside aside;
    const tp_task *task = put_and_claim(pool.a);
    must(pay(pool.a, (void *)(uintptr_t)task));
    expect(TP_NONE, tp_settled(pool.b, task));
    start_blocked(&aside, pool.b, pay, (void *)(uintptr_t)task);
    must(tp_commit(pool.a));
    expect(TP_CONFLICT, aside_end(&aside));
    expect(TP_CONFLICT, tp_commit(pool.b));
    expect(TP_OK, tp_settled(pool.b, task));
    expect_number(effects_of(task->id), 1);
    expect_row(task->id, "finished", "done", 0);
}

TEST(test_in_flight__a_settle_alone_hears_that_the_earlier_transaction_did_it) {
    struct aside aside;
    const tp_task *task = put_and_claim(pool.a);
    must(pay(pool.a, (void *)(uintptr_t)task));
    start_blocked(&aside, pool.b, complete_call, (void *)(uintptr_t)task);
    must(tp_commit(pool.a));
    tp_status answer = aside_end(&aside);
    if (answer == TP_CONFLICT)
        answer = tp_complete(pool.b, task); /* met the other's copy of the row; asks again */
    must(answer);
    expect_number(effects_of(task->id), 1);
}
