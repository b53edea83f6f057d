/* What the client itself costs: lean PHASE TASKS [GROUP] puts, claims and settles that many tasks, GROUP at a
 * time, and prints ODBC calls, statements and round trips a task. Only work() is to be measured, so a tool
 * that counts instructions is pointed at it: tools/lean.sh. lean memory TASKS and lean queued TASKS print how
 * much memory the process holds after each tenth of a run. Times and rates are taskpool bench's. The database
 * is that of TASKPOOL_TEST_DSN. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/pool.h"

enum { GROUP_MAX = TP_CLAIM_MAX, STEP = 10000 };

static size_t tasks_wanted, group = 500;

static void need(tp_status status, const char *what) {
    if (status == TP_OK) return;
    fprintf(stderr, "lean: %s: %s: %s\n", what, tp_status_name(status), tp_last_error()->text);
    pool_close();
    exit(1);
}

static size_t least(size_t a, size_t b) {
    return a < b ? a : b;
}

/* ---- The phases ---------------------------------------------------------------------------------------- */

static void put(size_t count) {
    static tp_new_task tasks[GROUP_MAX];
    for (size_t i = 0; i < count; i++) {
        tasks[i] = (tp_new_task)TP_NEW_TASK_INIT;
        tasks[i].handler = "lean";
        tasks[i].params = "{\"order\":4711}";
    }
    need(tp_enqueue_many(pool.a, tasks, count, NULL), "enqueue");
}

static size_t settle(tp_claim_request *request) {
    const tp_task *tasks[GROUP_MAX];
    tp_batch *batch = NULL;
    need(tp_claim(pool.a, request, &batch), "claim");
    size_t count = tp_batch_count(batch);
    for (size_t i = 0; i < count; i++)
        tasks[i] = tp_batch_task(batch, i);
    need(tp_complete_many(pool.a, tasks, count, NULL), "complete");
    tp_batch_free(batch);
    return count;
}

static tp_claim_request request(const char *plan) {
    static const char *const handlers[] = {"lean"};
    tp_claim_request request = TP_CLAIM_INIT;
    request.handlers = handlers;
    request.handler_count = 1;
    request.limit = group;
    request.plan = plan;
    return request;
}

static size_t enqueue_some(size_t count) {
    put(count);
    return count;
}

static size_t lease_some(size_t count) {
    tp_claim_request by = request(NULL);
    by.limit = count;
    return settle(&by);
}

static size_t hold_some(size_t count) {
    tp_claim_request by = request("hold");
    by.limit = count;
    need(tp_begin(pool.a), "begin");
    size_t done = settle(&by);
    need(tp_commit(pool.a), "commit");
    return done;
}

typedef size_t phase_fn(size_t count);

static const struct phase {
    const char *name;
    phase_fn *some;
    bool queued; /* works on tasks that are there */
} phases[] = {
    {"enqueue", enqueue_some, false},
    {"lease", lease_some, true},
    {"hold", hold_some, true},
};

/* ---- Counting ------------------------------------------------------------------------------------------ */

static void __attribute__((noinline)) work(phase_fn *some) {
    for (size_t done = 0; done < tasks_wanted;)
        done += some(least(group, tasks_wanted - done));
}

static void print_counts(const struct phase *phase, const tp_counters *before) {
    const tp_counters *now = tp_conn_counters(pool.a);
    double count = (double)tasks_wanted;
    printf("%s tasks=%zu group=%zu odbc_calls=%.3f statements=%.4f round_trips=%.4f\n", phase->name,
           tasks_wanted, group, (double)(now->odbc_calls - before->odbc_calls) / count,
           (double)(now->statements - before->statements) / count,
           (double)(now->round_trips - before->round_trips) / count);
}

/* One group goes first: what is prepared once is not what a task costs. */
static void count_phase(const struct phase *phase) {
    for (size_t left = phase->queued ? tasks_wanted + group : 0; left; left -= least(left, group))
        put(least(left, group));
    (void)phase->some(group);
    tp_counters before = *tp_conn_counters(pool.a);
    work(phase->some);
    print_counts(phase, &before);
}

/* ---- Memory -------------------------------------------------------------------------------------------- */

static void print_memory(size_t tasks) {
    long pages = 0, all = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%ld %ld", &all, &pages) != 2) pages = 0;
    if (file) fclose(file);
    printf("tasks=%zu rss_kib=%ld\n", tasks, pages * (sysconf(_SC_PAGESIZE) / 1024));
    fflush(stdout);
}

static tp_verdict no_work(tp_run *run, void *arg) {
    (void)run;
    (void)arg;
    return TP_RUN_DONE;
}

static void put_step(size_t count) {
    for (size_t left = count; left; left -= least(left, group))
        put(least(left, group));
}

static tp_worker *start_worker(void) {
    tp_worker_options options = TP_WORKER_INIT;
    tp_worker *worker = NULL;
    options.poll_ms = 5;
    need(tp_worker_open(pool.env, &options, &worker), "worker");
    need(tp_worker_handle(worker, "lean", no_work, NULL), "handler");
    need(tp_worker_start(worker), "start");
    return worker;
}

/* A worker of its own for each step would give back what one worker keeps, so one runs all the time. */
static void run_worker(void) {
    tp_worker *worker = start_worker();
    for (size_t done = 0; done < tasks_wanted; done += STEP) {
        if (done % (tasks_wanted / 10) < STEP) print_memory(done);
        put_step(STEP);
        tp_worker_info info = TP_WORKER_INFO_INIT;
        do {
            usleep(1000);
            need(tp_worker_about(worker, &info), "look");
        } while ((size_t)info.done < done);
    }
    print_memory(tasks_wanted);
    tp_worker_stop(worker);
    need(tp_worker_join(worker), "join");
    tp_worker_close(worker);
}

/* Claims in front of all that is queued, too. */
static void queue_tasks(void) {
    for (size_t done = 0; done < tasks_wanted; done += STEP) {
        if (done % (tasks_wanted / 10) < STEP) print_memory(done);
        put_step(STEP);
        if (done % (tasks_wanted / 10) < STEP) (void)lease_some(group);
    }
    print_memory(tasks_wanted);
}

int main(int argc, char **argv) {
    const char *name = argc > 2 ? argv[1] : "";
    const struct phase *phase = NULL;
    tasks_wanted = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
    if (argc > 3) group = strtoul(argv[3], NULL, 10);
    for (size_t i = 0; i < sizeof phases / sizeof phases[0]; i++)
        if (strcmp(phases[i].name, name) == 0) phase = &phases[i];
    bool memory = strcmp(name, "memory") == 0, queued = strcmp(name, "queued") == 0;
    if ((!phase && !memory && !queued) || !tasks_wanted || !group || group > GROUP_MAX) {
        fprintf(stderr, "usage: lean enqueue|lease|hold|memory|queued TASKS [GROUP, at most %d]\n",
                GROUP_MAX);
        return 2;
    }
    pool_open();
    if (phase) count_phase(phase);
    if (memory) run_worker();
    if (queued) queue_tasks();
    pool_close();
    return 0;
}
