/* held [--minutes N] [--plan NAME] [--tasks N] [--only without|with]: does a steady load keep its speed while
 * another session holds an old snapshot, so that nothing can be cleared away? Enqueues, claims and completes
 * tasks on one connection for so many minutes without such a session and as long with one; prints the tasks a
 * second of each tenth, and what was kept. With --only one of the two, to be run beside the other on another
 * database of the server. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "flat/counts.h"
#include "support/check.h"
#include "support/pool.h"
#include "support/sql.h"

enum { GROUP = 500, TENTHS = 10 };

static struct {
    double minutes;
    const char *plan;
    size_t waiting; /* tasks that are due all the time */
    const char *only;
} asked = {10, "skip", 5000, ""};

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* ---- The load ------------------------------------------------------------------------------------------ */

static void put(size_t count) {
    static tp_new_task tasks[GROUP];
    for (size_t i = 0; i < count; i++) {
        tasks[i] = (tp_new_task)TP_NEW_TASK_INIT;
        tasks[i].handler = "steady";
        tasks[i].params = "{\"order\": 4711}";
    }
    must(tp_enqueue_many(pool.a, tasks, count, NULL));
}

static size_t take(void) {
    static const char *const handlers[] = {"steady"};
    const tp_task *tasks[GROUP];
    tp_claim_request request = TP_CLAIM_INIT;
    tp_batch *batch = NULL;
    bool holds = pool_plan_holds(asked.plan);
    request.handlers = handlers;
    request.handler_count = 1;
    request.limit = GROUP;
    request.plan = asked.plan;
    if (holds) must(tp_begin(pool.a));
    must(tp_claim(pool.a, &request, &batch));
    size_t count = tp_batch_count(batch);
    for (size_t i = 0; i < count; i++)
        tasks[i] = tp_batch_task(batch, i);
    must(tp_complete_many(pool.a, tasks, count, NULL));
    if (holds) must(tp_commit(pool.a));
    tp_batch_free(batch);
    return count;
}

/* Tasks a second, and how many buffers one cost. */
static double run_for(double seconds, double *buffers) {
    double began = now();
    size_t done = 0;
    struct counts before = counts_read(pool.a, false);
    while (now() - began < seconds) {
        put(GROUP);
        done += take();
    }
    double rate = (double)done / (now() - began);
    *buffers = (double)(counts_read(pool.a, false).buffers - before.buffers) / (double)done;
    return rate;
}

/* ---- Without and with ---------------------------------------------------------------------------------- */

static double run_tenths(const char *name, double *last) {
    double sum = 0, buffers = 0;
    printf("%s %s, tasks/s (buffers a task):", pool.entry, name);
    for (int i = 0; i < TENTHS; i++) {
        *last = run_for(asked.minutes * 60 / TENTHS, &buffers);
        sum += *last;
        printf(" %.0f (%.1f)", *last, buffers);
        fflush(stdout);
    }
    printf("\n%s %s, mean: %.0f\n", pool.entry, name, sum / TENTHS);
    return sum / TENTHS;
}

static void hold_snapshot(void) {
    if (pool_on_postgres()) sql_run(pool.b, "BEGIN ISOLATION LEVEL REPEATABLE READ");
    if (pool_on_sqlite()) sql_run(pool.b, "BEGIN");
    if (pool_on_mariadb()) sql_run(pool.b, "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ");
    if (pool_on_mariadb()) sql_run(pool.b, "START TRANSACTION WITH CONSISTENT SNAPSHOT");
    sql_number(pool.b, "SELECT COUNT(*) FROM tp_meta");
}

static void test_held__keeps_its_speed(void **state) {
    double last = 0, last_held = 0;
    (void)state;
    for (size_t i = 0; i < asked.waiting; i += GROUP)
        put(GROUP);
    double free = 0, held = 0;
    if (strcmp(asked.only, "with") != 0) free = run_tenths("without", &last);
    if (strcmp(asked.only, "without") == 0) return;
    hold_snapshot();
    held = run_tenths("with an old snapshot", &last_held);
    sql_run(pool.b, "ROLLBACK");
    if (free == 0) return;
    printf("%s %s kept: %.2f in the mean, %.2f in the last tenth\n", pool.entry, asked.plan, held / free,
           last_held / free);
    assert_true(held / free >= 0.7);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_held__keeps_its_speed)};
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--minutes") == 0) asked.minutes = strtod(argv[i + 1], NULL);
        if (strcmp(argv[i], "--plan") == 0) asked.plan = argv[i + 1];
        if (strcmp(argv[i], "--only") == 0) asked.only = argv[i + 1];
        if (strcmp(argv[i], "--tasks") == 0) asked.waiting = (size_t)strtoul(argv[i + 1], NULL, 10);
    }
    pool_open();
    int failed = cmocka_run_group_tests_name("held", tests, NULL, NULL);
    pool_close();
    return failed;
}
