/* What the parts of taskpool-bench share: what is measured, how, and the figures. The program puts tasks of a
 * handler of its own into the pool, so that no other worker takes them, and takes them out again. It knows
 * taskpool.h and src/common alone. Read next: bench.c, which runs the measures. */
#ifndef BENCH_H
#define BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/messages.h"
#include "taskpool.h"

#define BENCH_PREFIX        "taskpool-bench-" /* of its handlers' names */
#define BENCH_PLANS_MAX     8
#define BENCH_PROCESSES_MAX 64

/* X(enumerator, "name", "what it is"). The last three run first */
#define BENCH_MEASURE_LIST(X)                                                                                \
    X(BENCH_ENQUEUE_ONE, "enqueue-one", "tasks put in one by one, each its own transaction")                 \
    X(BENCH_ENQUEUE_MANY, "enqueue-many", "tasks put in --put at a time")                                    \
    X(BENCH_CLAIM, "claim", "tasks claimed on one connection, --batch at a time")                            \
    X(BENCH_SETTLE, "settle", "these tasks completed, --group in one transaction")                           \
    X(BENCH_LIFE, "life", "a worker claims, runs and settles tasks whose handler does nothing")              \
    X(BENCH_LATENCY, "latency", "from the enqueue here to the handler in another process")                   \
    X(BENCH_LATENCY_SAME, "latency-same", "the same with the handler in this process")                       \
    X(BENCH_IDLE, "idle", "what a worker costs that has nothing to do")

enum bench_measure {
#define BENCH_MEASURE_ENUM(id, name, text) id,
    BENCH_MEASURE_LIST(BENCH_MEASURE_ENUM)
#undef BENCH_MEASURE_ENUM
        BENCH_MEASURES
};

/* X(enumerator, "name with its unit", decimals) */
#define BENCH_FIGURE_LIST(X)                                                                                 \
    X(FIGURE_SECONDS, "seconds", 4)                                                                          \
    X(FIGURE_RATE, "tasks_per_second", 1)                                                                    \
    X(FIGURE_STATEMENTS, "statements_per_task", 4)                                                           \
    X(FIGURE_TRIPS, "round_trips_per_task", 4)                                                               \
    X(FIGURE_COMMITS, "commits_per_task", 4)                                                                 \
    X(FIGURE_CPU, "client_cpu_us_per_task", 2)                                                               \
    X(FIGURE_P50, "p50_ms", 3)                                                                               \
    X(FIGURE_P95, "p95_ms", 3)                                                                               \
    X(FIGURE_P99, "p99_ms", 3)                                                                               \
    X(FIGURE_MAX, "max_ms", 3)                                                                               \
    X(FIGURE_ENQUEUE_P50, "enqueue_p50_ms", 3)                                                               \
    X(FIGURE_AFTER_P50, "after_enqueue_p50_ms", 3)                                                           \
    X(FIGURE_AFTER_P99, "after_enqueue_p99_ms", 3)                                                           \
    X(FIGURE_IDLE_STATEMENTS, "statements_per_second", 2)                                                    \
    X(FIGURE_IDLE_TRIPS, "round_trips_per_second", 2)                                                        \
    X(FIGURE_IDLE_CPU, "client_cpu_us_per_second", 1)

enum bench_figure {
#define BENCH_FIGURE_ENUM(id, name, decimals) id,
    BENCH_FIGURE_LIST(BENCH_FIGURE_ENUM)
#undef BENCH_FIGURE_ENUM
        BENCH_FIGURES
};

struct bench_settings {
    bool wanted[BENCH_MEASURES];
    const char *plans[BENCH_PLANS_MAX]; /* none: chosen when the database is known */
    size_t plan_count;
    int64_t tasks, singles, samples, put, batch, group, threads, processes, payload, rounds;
    int64_t queue, hot_ms, poll_ms, idle_ms; /* 0: the worker's own */
    int64_t pause_ms, idle_time_ms;
    int64_t samples_ms; /* no new sample after that; 0: all */
    bool transactions;
};

struct bench_result {
    enum bench_measure measure;
    int round;        /* 0: a median */
    const char *plan; /* NULL: it makes no difference */
    int64_t tasks;    /* or samples; 0: neither */
    bool has[BENCH_FIGURES];
    double figure[BENCH_FIGURES];
};

struct bench_shared;
struct bench_processes;

struct bench {
    const struct bench_settings *set;
    tp_env *env;
    tp_conn *conn;
    struct bench_shared *shared;       /* with the other processes */
    struct bench_processes *processes; /* NULL: in these themselves */
    char handler[TP_HANDLER_MAX + 1];
    char *params;
    int64_t started_at; /* ms since 1970, by this machine's clock */
    int32_t priority;   /* of its tasks now, see run_measure */
    int64_t put_in;     /* tasks */
    int64_t removed;
    int round;
    struct bench_result *results;
    size_t count;
};

/* bench_options.c. True: only --clean, of that handler or, NULL, of all. A mistake ends the program. */
bool bench_read_options(int argc, const char **argv, struct bench_settings *set, const char **handler);
const char *bench_measure_name(enum bench_measure measure);
/* latency.c. How long a task waits for its handler. */
enum cli_exit bench_latency(struct bench *bench, const char *plan, bool same_process);

#endif
