/* The move to another pool and the settle are one: nobody ever sees the task in two pools, or in none. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "suite.h"

THEME(move, A_PLAN);

enum { TASKS = 150 };

/* Counts over all pools, again and again, on a session of its own. */
struct watcher {
    pthread_t thread;
    tp_conn *conn;
    atomic_bool stop;
    atomic_int looks;
    int wrong; /* looks that did not count TASKS rows of TASKS ids */
    bool failed;
};

#define EVERYWHERE                                                                                           \
    "(SELECT id FROM tp_pending WHERE handler = '%s' UNION ALL SELECT id FROM tp_finished WHERE handler = "  \
    "'%s' "                                                                                                  \
    "UNION ALL SELECT id FROM tp_failed WHERE handler = '%s') everywhere"

static void *watch(void *arg) {
    struct watcher *watcher = arg;
    while (!atomic_load(&watcher->stop)) {
        int64_t code = 0; /* rows and ids in one number, of one look */
        const char *name = pool.handler;
        if (!sql_try_number(watcher->conn, &code,
                            "SELECT COUNT(*) * 1000 + COUNT(DISTINCT id) FROM " EVERYWHERE, name, name,
                            name)) {
            watcher->failed = true;
            break;
        }
        if (code != TASKS * 1000 + TASKS) watcher->wrong++;
        atomic_fetch_add(&watcher->looks, 1);
    }
    return NULL;
}

static void settle_one(const tp_task *task, size_t i) {
    if (i % 3 == 0) must(tp_complete(pool.a, task));
    if (i % 3 == 1) must(tp_skip(pool.a, task, "no"));
    if (i % 3 == 2) expect(TP_EXHAUSTED, tp_fail(pool.a, task, "no", &never));
}

static void await_look(const struct watcher *watcher) {
    int looks = atomic_load(&watcher->looks);
    int64_t deadline = deadline_ms();
    while (atomic_load(&watcher->looks) == looks && !watcher->failed) {
        expect_before(deadline);
        sched_yield();
    }
}

TEST(test_move__a_reader_sees_each_task_in_exactly_one_pool) {
    static struct watcher watcher;
    task_put_many(TASKS, NULL);
    tp_batch *batch = claim(pool.a, TASKS);
    memset(&watcher, 0, sizeof watcher);
    must(tp_conn_open(pool.env, &watcher.conn));
    assert_int_equal(pthread_create(&watcher.thread, NULL, watch, &watcher), 0);
    await_look(&watcher);
    for (size_t i = 0; i < TASKS; i++) {
        settle_one(tp_batch_task(batch, i), i);
        if (i % 5 == 0) await_look(&watcher);
    }
    atomic_store(&watcher.stop, true);
    pthread_join(watcher.thread, NULL);
    tp_conn_close(watcher.conn);
    assert_false(watcher.failed);
    expect_number(watcher.wrong, 0);
    expect_number(rows_in("pending", pool.handler), 0);
    expect_number(rows_in("finished", pool.handler), TASKS / 3 * 2);
    expect_number(rows_in("failed", pool.handler), TASKS / 3);
}

TEST(test_move__inside_a_transaction_it_waits_for_the_commit) {
    const tp_task *task = put_and_claim(pool.a);
    must(tp_begin(pool.a));
    must(tp_complete(pool.a, task));
    expect_row(task->id, "pending", "handling", 0); /* as the others see it */
    must(tp_commit(pool.a));
    expect_row(task->id, "finished", "done", 0);
}

TEST(test_move__a_rollback_leaves_everything_where_it_was) {
    for (int i = 0; i < SETTLES; i++) {
        const tp_task *task = put_and_claim(pool.a);
        struct row before = row_of(task->id);
        must(tp_begin(pool.a));
        must(settles[i].call(pool.a, task));
        must(tp_rollback(pool.a));
        expect_same(task->id, &before);
        must(tp_complete(pool.a, task));
    }
}

TEST(test_move__a_process_killed_before_the_commit_has_moved_nothing) {
    char id[ID], line[CHILD_LINE] = "";
    task_put("x", id);
    struct child child = child_start("pay", pool.plan, pool.handler, "1", "60000", NULL);
    child_listen(&child, line);
    assert_string_equal(line, id);
    expect_row(id, "pending", "handling", 0);
    child_kill(&child);
    expect_row(id, "pending", "handling", 0);
    expect_number(effects_of(id), 0);
}
