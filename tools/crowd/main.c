/* crowd [--tasks N] [--processes N] [--threads N] [--plan PLAN] [--form threads|worker]: 4 processes with 8
 * threads each share 200 tasks of one pool, under every claim plan of the database; and so do 4 workers,
 * under its own plan and hold. Prints what the library met. The long form, on one database and plan:
 *   tests/support/on_database.sh postgres build/release/tools/crowd --plan skip --tasks 100000
 * crowd --child ...: one of the processes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "crowd/crowd.h"
#include "support/check.h"
#include "support/child.h"

static struct {
    long tasks, processes, threads;
    const char *plan, *form;
} asked = {.tasks = 200, .processes = 4, .threads = 8};

enum { PUT = 500 };

/* ---- Tasks --------------------------------------------------------------------------------------------- */

static void put(size_t first, size_t count, struct judge_sums *sums, bool worker) {
    static tp_new_task tasks[PUT];
    char other[TP_HANDLER_MAX];
    const char *handlers[CROWD_HANDLERS];
    tp_status status;
    crowd_handlers(other, handlers);
    for (size_t i = 0; i < count; i++) {
        tasks[i] = (tp_new_task)TP_NEW_TASK_INIT;
        tasks[i].handler = handlers[(first + i) % 4 == 3];
        tasks[i].priority = (int32_t)((first + i) % 3);
    }
    do
        status = tp_enqueue_many(pool.a, tasks, count, NULL);
    while (status < TP_OK && status != TP_DISCONNECTED && tp_status_may_retry(status));
    must(status);
    for (size_t i = 0; i < count; i++)
        judge_expect(sums, tasks[i].id, worker);
}

static void put_from_to(size_t from, size_t to, struct judge_sums *sums, bool worker) {
    for (size_t at = from; at < to; at += PUT)
        put(at, to - at < PUT ? to - at : PUT, sums, worker);
}

/* ---- Processes ----------------------------------------------------------------------------------------- */

static void start(struct child *children, const char *form, const char *path) {
    char threads[12], number[12];
    snprintf(threads, sizeof threads, "%ld", asked.threads);
    for (int i = 0; i < asked.processes; i++) {
        snprintf(number, sizeof number, "%d", i);
        children[i] = child_start("crowd", pool.plan, pool.handler, form, threads, number, path, NULL);
    }
    for (int i = 0; i < asked.processes; i++)
        child_expect(&children[i], "ready");
    for (int i = 0; i < asked.processes; i++)
        child_go(&children[i]);
}

static bool wait_for_all(struct child *children) {
    bool well = true;
    for (int i = 0; i < asked.processes; i++) {
        char line[CHILD_LINE];
        while (child_listen(&children[i], line))
            print_error("process %d: %s\n", i, line);
        if (child_status(&children[i]) != 0) well = false;
    }
    return well;
}

/* Half of the tasks come while the crowd is at work; workers end when nothing is there, so they have all
 * before. */
static void run(const char *form) {
    bool worker = strcmp(form, "worker") == 0;
    size_t tasks = (size_t)asked.tasks, before = worker ? tasks : tasks / 2;
    char path[64];
    struct child children[BOARD_PROCESSES];
    struct judge_sums sums = {0};
    struct board *board = board_make(tasks, path);
    put_from_to(0, before, &sums, worker);
    int64_t began = board_now_us();
    start(children, form, path);
    put_from_to(before, tasks, &sums, worker);
    bool well = wait_for_all(children);
    judge_report(board, form, (double)(board_now_us() - began) / 1e6);
    sure(well, "a process ended badly");
    judge(board, &sums, worker);
    board_drop(board, path);
}

static void test_crowd__threads_claim_each_task_one_at_a_time_and_end_it_once(void **state) {
    (void)state;
    run("threads");
}

static void test_crowd__workers_claim_each_task_one_at_a_time_and_end_it_once(void **state) {
    (void)state;
    run("worker");
}

/* ---- All plans ----------------------------------------------------------------------------------------- */

static bool is_asked(const char *what, const char *name) {
    return !what || strcmp(what, name) == 0;
}

static bool worker_is_asked(const char *plan) {
    const char *own = tp_conn_about(pool.eye)->plan;
    if (asked.form) return strcmp(asked.form, "worker") == 0;
    return asked.plan || strcmp(plan, own) == 0 || pool_plan_holds(plan);
}

static int run_plan(const char *plan) {
    char group[80];
    struct CMUnitTest tests[2];
    size_t count = 0;
    pool.plan = plan;
    snprintf(group, sizeof group, "crowd.%s %s", pool.entry, plan);
    if (is_asked(asked.form, "threads"))
        tests[count++] = (struct CMUnitTest)cmocka_unit_test_setup(
            test_crowd__threads_claim_each_task_one_at_a_time_and_end_it_once, pool_fresh);
    if (worker_is_asked(plan))
        tests[count++] = (struct CMUnitTest)cmocka_unit_test_setup(
            test_crowd__workers_claim_each_task_one_at_a_time_and_end_it_once, pool_fresh);
    return _cmocka_run_group_tests(group, tests, count, NULL, NULL);
}

static void read_options(int argc, char **argv) {
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--tasks") == 0) asked.tasks = strtol(argv[i + 1], NULL, 10);
        if (strcmp(argv[i], "--processes") == 0) asked.processes = strtol(argv[i + 1], NULL, 10);
        if (strcmp(argv[i], "--threads") == 0) asked.threads = strtol(argv[i + 1], NULL, 10);
        if (strcmp(argv[i], "--plan") == 0) asked.plan = argv[i + 1];
        if (strcmp(argv[i], "--form") == 0) asked.form = argv[i + 1];
    }
}

int main(int argc, char **argv) {
    int failed = 0, ran = 0;
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (argc > 3 && strcmp(argv[1], "--child") == 0) return crowd_child(argv + 3);
    read_options(argc, argv);
    pool_open();
    for (int i = 0; i < PLANS; i++)
        if (pool_plan_possible(pool_plans[i]) && is_asked(asked.plan, pool_plans[i])) {
            failed += run_plan(pool_plans[i]);
            ran++;
        }
    pool_close();
    if (ran == 0) print_error("crowd: there is no plan %s here\n", asked.plan);
    return failed != 0 || ran == 0;
}
