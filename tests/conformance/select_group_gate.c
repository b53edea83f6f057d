/* Tasks selected by their group, and by the gate that they are behind: lists and what operators do take these
 * and no others, whatever else is asked for. */
#include "conformance/gates_given.h"
#include "suite.h"

THEME(select_group_gate, ONCE);

enum { MANY = 7 };
#define BIT(i) (1 << (i))

/* ---- Given --------------------------------------------------------------------------------------------- */

static char ids[MANY][ID];

static void put(int i, tp_new_task task) {
    must(tp_enqueue(pool.a, &task));
    memcpy(ids[i], task.id, ID);
}

static int bit_of(const char *id) {
    for (int i = 0; i < MANY; i++)
        if (strcmp(ids[i], id) == 0) return BIT(i);
    fail_msg("%s is none of the tasks", id);
    return 0;
}

/* Which tasks a list gives, in pages of two: each once, in the order of their ids. */
static int listed(tp_list_request request) {
    char last[ID] = "";
    int found = 0;
    request.size = sizeof request;
    request.handler = pool.handler;
    request.limit = 2;
    for (bool more = true; more;) {
        tp_batch *batch = NULL;
        if (list_into(pool.a, &request, &batch) == TP_NONE) break;
        for (size_t i = 0; i < tp_batch_count(batch); i++) {
            const char *id = tp_batch_task(batch, i)->id;
            assert_true(strcmp(id, last) > 0);
            memcpy(last, id, ID);
            found |= bit_of(id);
        }
        more = tp_list_next(batch, &request) == TP_OK;
    }
    return found;
}
#define expect_listed(bits, ...) expect_number(listed((tp_list_request){__VA_ARGS__}), (bits))

static size_t done_to(tp_action action, tp_selection selection) {
    tp_operated result = TP_OPERATED_INIT;
    must(tp_operate(pool.a, action, &selection, &result));
    return result.done;
}
#define expect_done(count, action, ...) expect_number(done_to((action), selection_with(__VA_ARGS__)), (count))

/* ---- Groups -------------------------------------------------------------------------------------------- */

/* 0 is done, 1 in the failed pool, 2 and 3 wait; 4 is in another group, 5 after this one, 6 in none. */
static void fill_group(void) {
    must(tp_group_open(pool.a, "g", TP_GROUP_ALL_DONE, NULL));
    must(tp_group_open(pool.a, "h", TP_GROUP_ALL_DONE, NULL));
    put(0, task_with(.group = "g"));
    must(tp_complete(pool.a, take_this(pool.a, ids[0])));
    put(1, task_with(.group = "g"));
    fail_for_good(ids[1]);
    put(2, task_with(.group = "g"));
    put(3, task_with(.group = "g", .biz_key = "order 7"));
    put(4, task_with(.group = "h", .biz_key = "order 7"));
    put(5, task_with(.after = "g"));
    put(6, task_with(.biz_key = "order 7"));
}

TEST(test_select_group_gate__a_group_is_listed_with_what_became_of_its_tasks) {
    const char *some[] = {ids[2], ids[4], ids[0]};
    fill_group();
    expect_listed(BIT(0) | BIT(1) | BIT(2) | BIT(3), .group = "g", .pool = "all");
    expect_listed(BIT(2) | BIT(3), .group = "g");
    expect_listed(BIT(0), .group = "g", .pool = "finished");
    expect_listed(BIT(1), .group = "g", .pool = "all", .state = "failed");
    expect_listed(BIT(3), .group = "g", .biz_key = "order 7");
    expect_listed(BIT(0) | BIT(2), .group = "g", .pool = "all", .ids = some, .id_count = LENGTH(some));
    expect_listed(0, .group = "g", .pool = "all", .since = TP_TIME_MAX);
    expect_listed(0, .group = "unknown", .pool = "all");
    expect_listed(BIT(5), .gate = ">g", .pool = "all");
    int64_t groups = 77, waiting = 77;
    must(tp_groups_waiting(pool.a, &groups, &waiting));
    expect_number(groups, 2);
    expect_number(waiting, 1);
    expect(TP_MISUSE, tp_groups_waiting(pool.a, &groups, NULL));
    expect(TP_MISUSE, tp_groups_waiting(pool.a, NULL, &waiting));
}

TEST(test_select_group_gate__operators_act_on_a_group) {
    const char *some[] = {ids[4], ids[3], ids[2]};
    fill_group();
    expect_done(3, TP_ACTION_SKIP, .group = "g", .dry_run = 1);
    expect_done(1, TP_ACTION_SKIP, .group = "g", .biz_key = "order 7", .dry_run = 1);
    expect_done(2, TP_ACTION_SKIP, .group = "g", .ids = some, .id_count = LENGTH(some), .dry_run = 1);
    expect_done(0, TP_ACTION_SKIP, .group = "unknown");
    expect_done(0, TP_ACTION_SKIP, .biz_key = "unknown");
    expect_done(1, TP_ACTION_RETRY, .group = "g");
    expect_row(ids[1], "pending", "pending", 0);
    expect_done(1, TP_ACTION_CANCEL, .group = "g", .limit = 1);
    expect_done(2, TP_ACTION_CANCEL, .group = "g");
    expect_listed(BIT(1) | BIT(2) | BIT(3), .group = "g", .pool = "all", .state = "skipped");
    expect_listed(BIT(4) | BIT(5) | BIT(6), .pool = "pending");
    expect_number(count_of("tp_audit WHERE detail LIKE '%%group g%%'"), 3);
    expect_done(4, TP_ACTION_PURGE, .group = "g", .dry_run = 1);
    expect_done(4, TP_ACTION_PURGE, .group = "g");
    expect_number(count_of("tp_finished"), 0);
}

TEST(test_select_group_gate__a_group_of_many_is_listed_page_by_page) {
    enum { TASKS = 2100, PART = 700 };
    tp_new_task *tasks = memory(PART, sizeof *tasks);
    tp_list_request request = {.size = sizeof request, .group = "g", .limit = 1000};
    size_t inserted, count = 0;
    must(tp_group_open(pool.a, "g", TP_GROUP_ALL_DONE, NULL));
    for (size_t at = 0; at < TASKS; at += PART) {
        for (size_t i = 0; i < PART; i++)
            tasks[i] = task_with(.group = "g", .biz_key = at + i == TASKS - 1 ? "last" : NULL);
        must(tp_enqueue_many(pool.a, tasks, PART, &inserted));
    }
    for (bool more = true; more;) {
        tp_batch *batch = tasks_listed(pool.a, &request);
        count += tp_batch_count(batch);
        more = tp_list_next(batch, &request) == TP_OK;
    }
    expect_number(count, TASKS);
    request = (tp_list_request){.size = sizeof request, .group = "g", .biz_key = "last"};
    expect_count(tasks_listed(pool.a, &request), 1);
    request =
        (tp_list_request){.size = sizeof request, .group = "g", .reason = "none has it", .read_max = 500};
    expect_count(tasks_listed(pool.a, &request), 0); /* and may go on behind them */
    expect_done(TASKS, TP_ACTION_SKIP, .group = "g");
}

/* ---- Gates --------------------------------------------------------------------------------------------- */

TEST(test_select_group_gate__tasks_behind_a_gate_are_listed_and_acted_upon_until_they_end) {
    must(tp_gate_set(pool.a, "bank", 1, TP_GATE_BLOCK, "ann"));
    for (int i = 0; i < 4; i++)
        put(i, behind("bank"));
    expect_listed(BIT(0) | BIT(1) | BIT(2) | BIT(3), .gate = "bank", .pool = "all");
    fail_for_good(ids[0]);
    expect_listed(BIT(0), .gate = "bank", .pool = "failed"); /* it keeps its place */
    expect_done(1, TP_ACTION_RETRY, .gate = "bank");
    must(tp_complete(pool.a, take_this(pool.a, ids[0])));
    put(4, task_with(.order_key = "bank"));
    put(5, task_with(.order_key = "bank"));
    put(6, task_with(.biz_key = "order 7"));
    expect_listed(BIT(4) | BIT(5), .gate = "=bank");
    expect_listed(BIT(1) | BIT(2) | BIT(3), .gate = "bank", .pool = "all");
    expect_done(2, TP_ACTION_SKIP, .gate = "bank", .limit = 2);
    expect_done(2, TP_ACTION_CANCEL, .gate = "=bank");
    expect_number(count_of("tp_audit WHERE detail LIKE '%%order key%%' AND detail NOT LIKE '%%bank%%'"),
                  2); /* of those that wait, and of the other */
    expect_number(count_of("tp_pending"), 2);
}

static void ignore(const tp_failure *failure, void *arg) {
    (void)failure;
    (void)arg;
}

TEST(test_select_group_gate__refuses_what_it_cannot_find) {
    tp_list_request any = TP_LIST_INIT;
    with(any, gate, "", expect(TP_MISUSE, try_list(pool.a, &given)));
    with(any, group, "", expect(TP_MISUSE, try_list(pool.a, &given)));
    with(any, group, "g", expect(TP_MISUSE, tp_failures_each(pool.a, &given, ignore, NULL, NULL)));
    with(any, gate, "=k", expect(TP_MISUSE, tp_failures_each(pool.a, &given, ignore, NULL, NULL)));
    tp_list_request finished = any;
    finished.pool = "finished";
    with(finished, gate, "bank", expect(TP_MISUSE, try_list(pool.a, &given)));
    finished.pool = "failed";
    with(finished, gate, ">g", expect(TP_MISUSE, try_list(pool.a, &given)));
    tp_selection after = selection_with(.pool = "failed", .gate = ">g");
    expect(TP_MISUSE, tp_operate(pool.a, TP_ACTION_PURGE, &after, NULL));
    expect_text("what waits for group g is in the pending pool");
    tp_selection history = selection_with(.pool = "history", .group = "g");
    expect(TP_MISUSE, tp_operate(pool.a, TP_ACTION_PURGE, &history, NULL));
    tp_selection behind_bank = selection_with(.gate = "bank"); /* of the finished pool */
    expect(TP_MISUSE, tp_operate(pool.a, TP_ACTION_PURGE, &behind_bank, NULL));
}
