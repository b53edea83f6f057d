/* Groups under workers: what waits for a group runs when all its tasks have, whoever settled the last, and
 * whoever died after it. What is judged is what handlers ran. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "support/child.h"
#include "worker/rig.h"

enum { MANY = 60, WORKERS = 3 };

static struct seen {
    atomic_int ran, followed, too_early;
    int wanted; /* how many are to have run before what follows */
} seen;

/* Params: "one" of a group, every fifth of which fails once, or "follow". */
static tp_verdict handle(tp_run *run, void *arg) {
    const tp_task *task = tp_run_task(run);
    (void)arg;
    if (strcmp(task->params, "follow") == 0) {
        if (atomic_load(&seen.ran) < seen.wanted) atomic_fetch_add(&seen.too_early, 1);
        atomic_fetch_add(&seen.followed, 1);
        return TP_RUN_DONE;
    }
    if (strcmp(task->params, "again") == 0 && task->failures == 0) return TP_RUN_FAILED;
    atomic_fetch_add(&seen.ran, 1);
    return TP_RUN_DONE;
}

static void put_group(const char *name, int count) {
    memset(&seen, 0, sizeof seen);
    seen.wanted = count;
    must(tp_group_open(pool.a, name, TP_GROUP_ALL_DONE, NULL));
    rig_put_one(.params = "follow", .after = name);
    for (int i = 0; i < count; i++)
        rig_put_one(.params = i % 5 ? "one" : "again", .group = name);
}

static void expect_followed(int tasks) {
    rig_expect(0, tasks + 1, 0);
    expect_number(atomic_load(&seen.followed), 1);
    expect_number(atomic_load(&seen.too_early), 0);
    expect_number(sql_number(pool.eye, "SELECT COUNT(*) FROM tp_group WHERE state <> 'over'"), 0);
}

static void work_together(const char *plan) {
    tp_worker *workers[WORKERS];
    tp_status status = TP_CONFLICT;
    put_group(pool.handler, MANY);
    for (int i = 0; i < WORKERS; i++)
        workers[i] = rig_start_with(0, handle, .plan = plan);
    rig_await(TP_EVENT_CLAIMED, MANY / 2);
    for (int i = 0; status == TP_CONFLICT && i < 100; i++) /* by a deadlock with a worker */
        status = tp_group_close(pool.a, pool.handler);
    must(status);
    rig_await(TP_EVENT_DONE, MANY + 1);
    for (int i = 0; i < WORKERS; i++)
        rig_stop(workers[i]);
    expect_followed(MANY);
}

TEST(test_groups__what_follows_runs_after_all_under_several_workers) {
    work_together(NULL);
}

TEST(test_groups__and_where_tasks_are_held_by_locks) {
    rig_needs_hold();
    work_together("hold");
}

/* A worker that is to end when nothing is open goes on to what follows, and to what follows that. */
TEST(test_groups__a_chain_is_worked_off_to_its_end) {
    put_group(pool.handler, 4);
    must(tp_group_open(pool.a, "second", TP_GROUP_ALL_DONE, NULL));
    rig_put_one(.params = "one", .group = "second", .after = pool.handler);
    rig_put_one(.params = "one", .after = "second");
    must(tp_group_close(pool.a, "second"));
    must(tp_group_close(pool.a, pool.handler));
    rig_run(0, handle);
    expect_followed(4 + 2);
}

/* ---- A process that dies ------------------------------------------------------------------------------- */

/* Settles all there is of the group, and is killed before it has asked for the end. */
ROLE(settler) {
    tp_claim_request request = TP_CLAIM_INIT;
    const char *handlers[1] = {pool.handler};
    tp_batch *batch = NULL;
    request.handlers = handlers;
    request.handler_count = 1;
    request.limit = 10;
    if (tp_claim(pool.a, &request, &batch) != TP_OK) return 2;
    for (size_t i = 0; i < tp_batch_count(batch); i++)
        if (tp_complete(pool.a, tp_batch_task(batch, i)) != TP_OK) return 3;
    raise(SIGKILL);
    return 0;
}

TEST(test_groups__an_end_that_a_killed_process_left_is_noticed_by_a_worker) {
    char line[CHILD_LINE];
    memset(&seen, 0, sizeof seen);
    must(tp_group_open(pool.a, pool.handler, TP_GROUP_ALL_DONE, NULL));
    rig_put_one(.params = "one", .group = pool.handler, .due_at = 1);
    rig_put_one(.params = "follow", .after = pool.handler);
    must(tp_group_close(pool.a, pool.handler));
    struct child child = child_start("settler", pool.handler, NULL);
    while (child_listen(&child, line))
        print_message("child: %s\n", line);
    expect_number(child_status(&child), -1);
    expect_number(sql_number(pool.eye, "SELECT COUNT(*) FROM tp_group WHERE state = 'closed'"), 1);
    tp_worker *worker = rig_start_with(0, handle, .poll_ms = 20);
    rig_await(TP_EVENT_DONE, 1);
    rig_stop(worker);
    expect_followed(1);
}
