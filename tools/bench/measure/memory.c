/* memory [--of worker|queue] [--tasks N]: how much memory the process holds after each tenth of a run: with
 * one worker that handles all tasks, or while tasks only queue and a claim takes some of them now and then.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/measure/measure.h"
#include "support/check.h"
#include "support/pool.h"

enum { STEP = 10000, GROUP = 500 };

static const char handler[] = "memory";

static struct {
    bool queue;
    size_t tasks;
} asked = {false, 100000};

bool memory_option(const char *option, const char *value) {
    asked.queue = asked.queue || strcmp(value, "queue") == 0;
    if (strcmp(option, "tasks") == 0) asked.tasks = strtoul(value, NULL, 10);
    return asked.tasks >= 10 && (strcmp(option, "of") == 0 || strcmp(option, "tasks") == 0);
}

static void print_memory(size_t tasks) {
    long pages = 0, all = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%ld %ld", &all, &pages) != 2) pages = 0;
    if (file) fclose(file);
    printf("tasks=%zu rss_kib=%ld\n", tasks, pages * (sysconf(_SC_PAGESIZE) / 1024));
    fflush(stdout);
}

static tp_verdict do_nothing(tp_run *run, void *arg) {
    (void)run;
    (void)arg;
    return TP_RUN_DONE;
}

static tp_worker *start_worker(void) {
    tp_worker_options options = TP_WORKER_INIT;
    tp_worker *worker = NULL;
    options.poll_ms = 5;
    must(tp_worker_open(pool.env, &options, &worker));
    must(tp_worker_handle(worker, handler, do_nothing, NULL));
    must(tp_worker_start(worker));
    return worker;
}

static void await_done(tp_worker *worker, size_t done) {
    tp_worker_info info = TP_WORKER_INFO_INIT;
    do {
        usleep(1000);
        must(tp_worker_about(worker, &info));
    } while ((size_t)info.done < done);
}

/* One worker runs all the time: a new one for each step would free what one worker holds. */
void memory_run(void **state) {
    (void)state;
    tp_worker *worker = asked.queue ? NULL : start_worker();
    for (size_t done = 0; done < asked.tasks; done += STEP) {
        bool tenth = done % (asked.tasks / 10) < STEP;
        if (tenth) print_memory(done);
        put_tasks(handler, STEP);
        if (worker) await_done(worker, done);
        if (!worker && tenth) (void)take_tasks(handler, NULL, GROUP);
    }
    print_memory(asked.tasks);
    if (!worker) return;
    tp_worker_stop(worker);
    must(tp_worker_join(worker));
    tp_worker_close(worker);
}
