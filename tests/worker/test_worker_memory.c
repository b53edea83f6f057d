/* test_worker_memory [TASKS]: what a worker needs when so many tasks (200) of 1 MiB are claimed at once. The
 * worker runs in a child process, which says its peak. */
#include "worker/rig.h"

#include <sys/resource.h>

#include "support/child.h"

enum { PEAK_KIB = 100 * 1024 }; /* half of the least that is claimed at once */

/* Sanitizers keep memory of their own. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
static const bool sanitized = true;
#else
static const bool sanitized = false;
#endif

/* Made long by the database itself, of one that it was sent: sending all would take too long. */
static void put_long(int count) {
    char *text = malloc(TP_PARAMS_MAX + 1);
    assert_non_null(text);
    memset(text, 'y', TP_PARAMS_MAX);
    text[TP_PARAMS_MAX] = '\0';
    tp_schedule one = {
        .size = sizeof one, .name = "long", .handler = "long", .rule = "every 24h", .params = text};
    must(tp_schedule_add(pool.eye, &one));
    free(text);
    rig_put(count, "x");
    sql_run(pool.eye,
            "UPDATE tp_pending SET params = (SELECT params FROM tp_schedule WHERE name = 'long') "
            "WHERE handler = '%s'",
            pool.handler);
    must(tp_schedule_remove(pool.eye, "long"));
}

HANDLER(read_all) {
    const char *params = NULL;
    size_t length = 0;
    if (tp_run_params(run, &params, &length) != TP_OK || length != TP_PARAMS_MAX) return TP_RUN_FAILED;
    return strspn(params, "y") == length ? TP_RUN_DONE : TP_RUN_FAILED;
}

ROLE(work) {
    tp_worker_options o = {.size = sizeof o, .drain = 1};
    tp_worker *worker = NULL;
    tp_worker_info info = TP_WORKER_INFO_INIT;
    struct rusage usage;
    if (tp_worker_open(pool.env, &o, &worker) != TP_OK) return 2;
    if (tp_worker_handle(worker, pool.handler, read_all, NULL) != TP_OK) return 2;
    if (tp_worker_start(worker) != TP_OK || tp_worker_join(worker) != TP_OK) return 2;
    if (tp_worker_about(worker, &info) != TP_OK) return 2;
    getrusage(RUSAGE_SELF, &usage);
    child_say("%d %ld", (int)info.done, usage.ru_maxrss);
    tp_worker_close(worker);
    return 0;
}

TEST(test_memory__long_tasks_claimed_at_once_stay_small) {
    int tasks_wanted = rig.argument ? (int)strtol(rig.argument, NULL, 10) : 200, done = 0;
    char line[CHILD_LINE] = "";
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
