/* Design A: points after an order. One task table for whatever must follow an order; from a single thread to
 * many machines; and its accident: a voucher sent twice. */
#include "origins/origins.h"

DESIGN(points_after_order, {"orders", "id INTEGER NOT NULL PRIMARY KEY"},
       {"points", "order_key VARCHAR(40) NOT NULL, points INTEGER NOT NULL"},
       {"vouchers", "order_key VARCHAR(40) NOT NULL"},
       {"old_points", "id VARCHAR(36) NOT NULL PRIMARY KEY, keyword VARCHAR(64), biz_id VARCHAR(40), "
                      "biz_data VARCHAR(200), status INTEGER NOT NULL"});

static tp_status place_order(tp_conn *conn, int order) {
    tp_new_task task = TP_NEW_TASK_INIT;
    char key[32], params[64];
    snprintf(key, sizeof key, "order-%d", order);
    snprintf(params, sizeof params, "{\"order\":%d,\"points\":100}", order);
    task.handler = "points";
    task.biz_key = key;
    task.params = params;
    if (!sql_try(conn, "INSERT INTO tp_orders (id) VALUES (%d)", order)) return TP_DB;
    return tp_enqueue(conn, &task);
}

static tp_verdict grant_points(tp_run *run, void *arg) {
    tp_conn *conn = NULL;
    (void)arg;
    if (tp_run_conn(run, &conn) != TP_OK) return TP_RUN_FAILED;
    bool granted = sql_try(conn, "INSERT INTO tp_points (order_key, points) VALUES ('%s', 100)",
                           tp_run_task(run)->biz_key);
    return granted ? TP_RUN_DONE : TP_RUN_FAILED;
}

HANDLER(send_voucher) {
    tp_conn *conn = NULL;
    if (tp_run_conn(run, &conn) != TP_OK) return TP_RUN_FAILED;
    bool sent = sql_try(conn, "INSERT INTO tp_vouchers (order_key) VALUES ('%s')", tp_run_task(run)->biz_key);
    return sent ? TP_RUN_DONE : TP_RUN_FAILED;
}

static void place_orders(int count) {
    must(tp_begin(pool.b));
    for (int order = 1; order <= count; order++)
        must(place_order(pool.b, order));
    must(tp_commit(pool.b));
}

static void grant_all(void) {
    tp_worker *worker = worker_for("points", grant_points);
    advance(2000); /* a generic clock may have whole seconds only */
    step_all(worker);
    worker_close(worker);
}

/* Every order has its points, once, and nothing is left to do. */
static void expect_granted(int orders) {
    expect_number(count_of("points"), orders);
    expect_number(sql_number(pool.eye, "SELECT COUNT(DISTINCT order_key) FROM tp_points"), orders);
    expect_number(count_of("pending"), 0);
    expect_number(count_where("finished", "handler = 'points' AND state = 'done'"), orders);
}

TEST(test_points__order_and_task_are_stored_together) {
    must(tp_begin(pool.a));
    must(place_order(pool.a, 7));
    must(tp_commit(pool.a));
    expect_number(count_of("orders"), 1);
    expect_number(count_where("pending", "handler = 'points' AND biz_key = 'order-7'"), 1);
    grant_all();
    expect_granted(1);
}

TEST(test_points__no_order_no_task) {
    must(tp_begin(pool.a));
    must(place_order(pool.a, 7));
    must(tp_rollback(pool.a));
    expect_number(count_of("orders"), 0);
    expect_number(count_of("pending"), 0);
}

/* The order first, its task later, by somebody who may not know whether it was done before. */
static tp_status order_placed(tp_conn *conn, const char *event_id, const char *key) {
    tp_new_task task = {.size = sizeof task, .handler = "points", .biz_key = key};
    task_set_id(&task, event_id);
    return tp_enqueue(conn, &task);
}

TEST(test_points__the_task_may_come_after_the_order_and_be_sent_again) {
    static const char event[] = "0191e0a0-0000-7000-8000-00000000a007";
    sql_run(pool.a, "INSERT INTO tp_orders (id) VALUES (7)");
    must(order_placed(pool.a, event, "order-7"));
    expect(TP_EXISTS, order_placed(pool.b, event, "order-7"));
    grant_all();
    expect(TP_EXISTS, order_placed(pool.b, event, "order-7"));
    grant_all();
    expect_granted(1);
}

TEST(test_points__a_later_campaign_is_another_handler) {
    tp_new_task task = {.size = sizeof task, .handler = "voucher", .biz_key = "order-1"};
    struct sql_row order;
    place_orders(1);
    must(tp_enqueue(pool.a, &task));
    grant_all(); /* knows nothing of vouchers, and leaves them alone */
    expect_row(task.id, "pending", "pending", 0);
    tp_worker *worker = worker_for("points", grant_points);
    must(tp_worker_handle(worker, "voucher", send_voucher, NULL));
    advance(2000);
    expect_number(step_all(worker), 1);
    expect_number(count_of("vouchers"), 1);
    assert_true(sql_row(pool.eye, &order, "SELECT * FROM tp_orders"));
    expect_number(order.columns, 1);
}

/* The old program: the voucher is sent, then, in a transaction of its own, the status is set. */
static bool send_then_mark(tp_conn *conn, void (*between)(void)) {
    int64_t waiting = 0;
    bool done = sql_try_number(conn, &waiting, "SELECT COUNT(*) FROM tp_old_points WHERE status = -2");
    if (done && waiting) done = sql_try(conn, "INSERT INTO tp_vouchers (order_key) VALUES ('order-1')");
    if (between) between();
    return done && sql_try(conn, "UPDATE tp_old_points SET status = 0 WHERE status = -2");
}

/* With taskpool: the same, in one transaction. */
static bool send_and_complete(tp_conn *conn, const tp_task *task, void (*between)(void)) {
    if (tp_begin(conn) != TP_OK) return false;
    if (!sql_try(conn, "INSERT INTO tp_vouchers (order_key) VALUES ('%s')", task->biz_key)) return false;
    if (between) between();
    return tp_complete(conn, task) == TP_OK && tp_commit(conn) == TP_OK;
}

static void say_and_wait(void) {
    child_say("sent");
    child_wait_for_go();
}

ROLE(old_voucher) {
    return send_then_mark(pool.a, say_and_wait) ? 0 : 1;
}

ROLE(new_voucher) {
    tp_batch *batch = NULL;
    if (try_to_take(pool.a, "voucher", NULL, 1, &batch) != TP_OK) return 1;
    return send_and_complete(pool.a, tp_batch_task(batch, 0), say_and_wait) ? 0 : 1;
}

/* Killed after the effect and before the status. */
static void kill_in_between(const char *role) {
    struct child child = child_start(role, NULL);
    child_expect(&child, "sent");
    child_kill(&child);
}

TEST(test_points__effect_and_status_in_two_transactions_send_twice) {
    sql_run(pool.eye, "INSERT INTO tp_old_points (id, keyword, biz_id, status) "
                      "VALUES ('1', 'voucher', 'order-1', -2)");
    kill_in_between("old_voucher");
    assert_true(send_then_mark(pool.a, NULL)); /* the program started again */
    expect_number(count_where("old_points", "status = 0"), 1);
    expect_number(count_of("vouchers"), 2);
}

TEST(test_points__effect_and_settle_in_one_transaction_send_once) {
    put_tasks("voucher", 1, "order-%d");
    kill_in_between("new_voucher");
    advance(65000);
    expect_number(step_all(worker_for("voucher", send_voucher)), 1);
    expect_number(count_of("vouchers"), 1);
    expect_number(count_where("finished", "state = 'done' AND failures = 1"), 1);
}

TEST(test_points__a_single_thread_takes_them_page_by_page) {
    size_t most = 0, handled = 0;
    place_orders(120);
    advance(2000);
    tp_worker *worker = worker_with("points", grant_points, .batch = 50);
    while (tp_worker_step(worker, &handled) == TP_OK)
        if (handled > most) most = handled;
    expect_number(most, 50);
    expect_granted(120);
}

/* 2,500 tasks whose handlers wait: the worker takes what its queue and threads hold, one more thread helps,
 * and the rest stays in the database until there is room. */
TEST(test_points__never_holds_more_than_its_queue_and_threads) {
    enum { TASKS = 2500, QUEUE = 1000, THREADS = 10 };
    tp_worker_options options = WORKER_OPTIONS(.drain = 1);
    put_tasks("points", TASKS, NULL);
    options.threads = 1;
    options.threads_max = 10;
    options.keep_alive_ms = 5000;
    options.queue = 1000;
    options.when_full = TP_FULL_EXTRA_THREAD;
    tp_worker *worker = worker_by(&options, "points", wait_at_gate);
    must(tp_worker_start(worker));
    await_arrived(THREADS + 1);
    await(look(worker).queued + look(worker).running >= QUEUE);
    expect_in_hand(look(worker), QUEUE, THREADS, 1);
    gate_open(&scene.gate);
    must(tp_worker_join(worker));
    expect_number(look(worker).done, TASKS);
    expect_number(count_of("finished"), TASKS);
}

/* A worker of two threads for points, until there are none. */
ROLE(points_worker) {
    tp_worker_options options = {
        .size = sizeof options, .threads = 2, .batch = 20, .poll_ms = 10, .drain = 1};
    tp_worker *worker = NULL;
    if (tp_worker_open(pool.env, &options, &worker) != TP_OK) return 1;
    if (tp_worker_handle(worker, "points", grant_points, NULL) != TP_OK) return 1;
    child_say("ready");
    child_wait_for_go();
    tp_status status = tp_worker_start(worker);
    if (status == TP_OK) status = tp_worker_join(worker);
    if (status != TP_OK) child_say("%s", tp_last_error()->text);
    tp_worker_close(worker);
    return status == TP_OK ? 0 : 1;
}

TEST(test_points__several_processes_grant_each_once) {
    enum { PROCESSES = 3, ORDERS = 300 };
    struct child children[PROCESSES];
    place_orders(ORDERS);
    start_together(children, PROCESSES, "points_worker", NULL);
    (void)end_together(children, PROCESSES);
    expect_granted(ORDERS);
}

/* Two claimers under the plan: no task twice, and the rows say who has them. */
static void share_out(const char *plan) {
    if (!pool_plan_possible(plan)) return;
    put_tasks(plan, 20, NULL);
    tp_batch *one = take(pool.a, plan, plan, 8), *other = take(pool.b, plan, plan, 20);
    expect_number(tp_batch_count(one), 8);
    expect_number(tp_batch_count(other), 12);
    expect_disjoint(one, other);
    expect_number(count_where("pending", "owner = '%s'", tp_batch_task(one, 0)->owner), 8);
    complete_all(pool.a, one);
    complete_all(pool.b, other);
    expect_number(rows_in("finished", plan), 20);
}

TEST(test_points__compare_and_set_and_batch_by_owner_share_tasks_out) {
    share_out("cas");
    share_out("batch");
}

static void old_row(int id, int status) {
    sql_run(pool.eye,
            "INSERT INTO tp_old_points (id, keyword, biz_id, biz_data, status) "
            "VALUES ('%d', 'points', 'order-%d', 'data-%d', %d)",
            id, id, id, status);
}

TEST(test_points__old_rows_move_over_and_back) {
    old_row(1, -2);
    old_row(2, -1);
    old_row(3, 0);
    old_row(4, 2);
    run_block("points_after_order.move");
    expect_number(count_where("old_points", "id IN ('2', '3')"), 2);
    expect_number(count_of("old_points"), 2);
    expect_number(count_where("pending", "biz_key = 'order-1' AND state = 'pending' AND failures = 0"), 1);
    expect_number(count_where("pending", "biz_key = 'order-4' AND state = 'failed' AND failures = 2"), 1);
    run_block("points_after_order.move"); /* nothing to do any more */
    expect_number(count_of("pending"), 2);
    expect_sound_pools();
    run_block("points_after_order.back");
    expect_number(count_of("pending"), 0);
    expect_number(count_where("old_points", "biz_id = 'order-1' AND status = -2 AND biz_data = 'data-1'"), 1);
    expect_number(count_where("old_points", "biz_id = 'order-4' AND status = 2"), 1);
    run_block("points_after_order.move");
    grant_all();
    expect_granted(2);
}
