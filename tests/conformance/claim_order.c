/* Which tasks a claim takes first: by priority, then due_at, then id. */
#include "suite.h"

THEME(claim_order, EACH_PLAN);

enum { TASKS = 12 };

struct asked {
    int32_t priority;
    int64_t due_at;
    char id[ID];
};

static int by_order(const void *a, const void *b) {
    const struct asked *one = a, *two = b;
    if (one->priority != two->priority) return one->priority < two->priority ? -1 : 1;
    if (one->due_at != two->due_at) return one->due_at < two->due_at ? -1 : 1;
    return strcmp(one->id, two->id);
}

/* Enqueues in a scrambled order; gives them in the right one. */
static void put_scrambled(struct asked tasks[TASKS]) {
    static const struct {
        int32_t priority;
        int due; /* seconds after LONG_AGO */
    } scrambled[TASKS] = {{5, 1},  {0, 9}, {-2, 7}, {0, 3}, {5, 0}, {-2, 7},
                          {-9, 8}, {0, 3}, {0, 1},  {5, 1}, {1, 0}, {-2, 2}};
    for (int i = 0; i < TASKS; i++) {
        tp_new_task task = enqueue(pool.a, .priority = tasks[i].priority = scrambled[i].priority,
                                   .due_at = tasks[i].due_at = LONG_AGO + scrambled[i].due * 1000);
        memcpy(tasks[i].id, task.id, ID);
    }
    qsort(tasks, TASKS, sizeof tasks[0], by_order);
}

/* Plans that mark in one UPDATE read back by token, when the old due_at is gone: in priority and id order. */
static bool reads_back(void) {
    return strcmp(pool.plan, "batch") == 0 ||
           (strcmp(pool.plan, "skip") == 0 && strcmp(tp_conn_about(pool.a)->dialect, "mysql") == 0);
}

static void expect_exact_order(const tp_batch *batch, const struct asked *tasks) {
    for (size_t i = 0; i < tp_batch_count(batch); i++)
        assert_string_equal(tp_batch_task(batch, i)->id, tasks[i].id);
}

static void expect_read_back_order(const tp_batch *batch) {
    for (size_t i = 1; i < tp_batch_count(batch); i++) {
        const tp_task *one = tp_batch_task(batch, i - 1), *two = tp_batch_task(batch, i);
        assert_true(one->priority < two->priority ||
                    (one->priority == two->priority && strcmp(one->id, two->id) < 0));
    }
}

static void expect_order(const tp_batch *batch, const struct asked *tasks) {
    if (reads_back())
        expect_read_back_order(batch);
    else
        expect_exact_order(batch, tasks);
}

TEST(test_claim_order__all_tasks_come_in_it) {
    struct asked tasks[TASKS];
    put_scrambled(tasks);
    tp_batch *batch = claim(pool.a, TASKS);
    expect_order(batch, tasks);
}

TEST(test_claim_order__the_first_are_taken_first) {
    struct asked tasks[TASKS];
    static const size_t limits[] = {1, 4, 2, 5};
    size_t from = 0;
    put_scrambled(tasks);
    for (size_t i = 0; i < LENGTH(limits); i++) {
        tp_batch *batch = claim(i % 2 ? pool.b : pool.a, limits[i]);
        for (size_t k = 0; k < limits[i]; k++)
            assert_true(batch_holds(batch, tasks[from + k].id));
        expect_order(batch, tasks + from);
        from += limits[i];
    }
    expect_nothing(pool.a);
}

TEST(test_claim_order__the_widest_priorities_are_kept) {
    tp_new_task low = task_new("x"), high = task_new("x");
    low.priority = 32767;
    high.priority = -32768;
    must(tp_enqueue(pool.a, &low));
    must(tp_enqueue(pool.a, &high));
    const tp_task *task = claim_this(pool.a, high.id);
    expect_number(task->priority, -32768);
    task = claim_this(pool.a, low.id);
    expect_number(task->priority, 32767);
}
