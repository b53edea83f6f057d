/* test_worker_memory [TASKS]: what a worker needs when so many tasks (200) of 1 MiB are claimed at once. The
 * worker runs in a child process, which says its peak: --child work HANDLER. */
#include "worker/rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "support/child.h"

enum { PEAK_KIB = 100 * 1024 }; /* half of the least that is claimed at once */

static int tasks_wanted = 200;

/* Sanitizers keep memory of their own. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
static const bool sanitized = true;
#else
static const bool sanitized = false;
#endif

/* Made long by the database itself, of one that it was sent: sending all would take too long. */
static void put_long(int count) {
    tp_schedule one = TP_SCHEDULE_INIT;
    char *text = malloc(TP_PARAMS_MAX + 1);
    assert_non_null(text);
    memset(text, 'y', TP_PARAMS_MAX);
    text[TP_PARAMS_MAX] = '\0';
    one.name = one.handler = "long";
    one.rule = "every 24h";
    one.params = text;
    must(tp_schedule_add(pool.eye, &one));
    free(text);
    rig_put(count, "x");
    sql_run(pool.eye,
            "UPDATE tp_pending SET params = (SELECT params FROM tp_schedule WHERE name = 'long') "
            "WHERE handler = '%s'",
            pool.handler);
    must(tp_schedule_remove(pool.eye, "long"));
}

static tp_verdict read_all(tp_run *run, void *arg) {
    const char *params = NULL;
    size_t length = 0;
    (void)arg;
    if (tp_run_params(run, &params, &length) != TP_OK || length != TP_PARAMS_MAX) return TP_RUN_FAILED;
    return strspn(params, "y") == length ? TP_RUN_DONE : TP_RUN_FAILED;
}

static int work(const char *handler) {
    tp_worker_options o = TP_WORKER_INIT;
    tp_worker *worker = NULL;
    tp_worker_info info = TP_WORKER_INFO_INIT;
    struct rusage usage;
    o.drain = 1;
    pool_join();
    snprintf(pool.handler, sizeof pool.handler, "%s", handler);
    if (tp_worker_open(pool.env, &o, &worker) != TP_OK) return 2;
    if (tp_worker_handle(worker, handler, read_all, NULL) != TP_OK) return 2;
    if (tp_worker_start(worker) != TP_OK || tp_worker_join(worker) != TP_OK) return 2;
    if (tp_worker_about(worker, &info) != TP_OK) return 2;
    getrusage(RUSAGE_SELF, &usage);
    child_say("%d %ld", (int)info.done, usage.ru_maxrss);
    tp_worker_close(worker);
    return 0;
}

static void test_memory__long_tasks_claimed_at_once_stay_small(void **state) {
    (void)state;
    char line[CHILD_LINE] = "";
    int done = 0;
    long peak = 0;
    put_long(tasks_wanted);
    struct child child = child_start("work", pool.handler, NULL);
    if (!child_listen(&child, line) || sscanf(line, "%d %ld", &done, &peak) != 2)
        fail_msg("the child said '%s'", line);
    child_end(&child);
    print_message("%d tasks of 1 MiB, peak %ld MiB\n", done, peak / 1024);
    expect_number(done, tasks_wanted);
    rig_expect(0, tasks_wanted, 0);
    if (!sanitized && peak > PEAK_KIB) fail_msg("%ld KiB", peak);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        RIG_TEST(test_memory__long_tasks_claimed_at_once_stay_small),
    };
    if (argc > 3 && strcmp(argv[1], "--child") == 0) return work(argv[3]);
    if (argc > 1) tasks_wanted = (int)strtol(argv[1], NULL, 10);
    rig_begin();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    rig_end();
    return failed;
}
