/* What the parts of taskpool bench share. It puts tasks of a handler of its own into the pool, so that no
 * other worker takes them, and takes them out again. Who does what: bench.c runs the measures, bench_calls.c
 * and bench_work.c are those of one connection and of workers, bench_pickup.c those of latency, bench_crew.c
 * has the other processes, bench_clean.c takes everything out, bench_report.c shows the figures. */
#ifndef CLI_BENCH_H
#define CLI_BENCH_H

#include "cli.h" /* first: it chooses what the system headers show */

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

struct bench_crew;

struct bench {
    const struct bench_settings *set;
    tp_env *env;
    tp_conn *conn;
    struct bench_crew *crew; /* NULL: no other process is needed */
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

/* ---- bench_options.c --------------------------------------------------------------------------------- */

/* False: *code is how the command ends. clean: --clean, of that handler or, NULL, of all. */
bool bench_read_options(int argc, const char **argv, struct bench_settings *settings, bool *clean,
                        const char **handler, enum cli_exit *code);
const char *bench_measure_name(enum bench_measure measure);

/* ---- bench.c ----------------------------------------------------------------------------------------- */

/* How many times the user asked to stop. */
int bench_stops(void);
/* Lets it stop; for processes that hear no signals. */
void bench_stop(void);
/* A new result of this round, with all figures missing; to be filled before the next is asked for. */
struct bench_result *bench_result_new(struct bench *bench, enum bench_measure measure, const char *plan);
void bench_figure(struct bench_result *result, enum bench_figure figure, double value);

/* What work cost so far. */
struct bench_cost {
    double seconds, cpu_us;
    tp_counters work;
};
/* Monotonic, the same in all processes of this machine. */
double bench_now(void);
/* Of this process, user and system. */
double bench_cpu_us(void);
void bench_cost_begin(struct bench_cost *cost, const tp_conn *conn);
void bench_cost_end(struct bench_cost *cost, const tp_conn *conn);
/* Fills the figures of a measure of tasks. */
void bench_cost_tell(struct bench_result *result, int64_t tasks, const struct bench_cost *cost);
/* Adds, or takes away, what b counts. */
void bench_work_add(tp_counters *a, const tp_counters *b, bool less);

/* ---- bench_calls.c ----------------------------------------------------------------------------------- */

/* Puts in count tasks, at most --put at a time. cost may be NULL. */
enum cli_exit bench_put(struct bench *bench, int64_t count, struct bench_cost *cost);
/* Tells it. Where no answer came the server may still be at it: they are asked for again, with the same ids,
 * so that none comes after everything was taken out. */
enum cli_exit bench_put_failed(struct bench *bench, tp_new_task *tasks, size_t count, tp_status status);
enum cli_exit bench_enqueue_one(struct bench *bench);
enum cli_exit bench_enqueue_many(struct bench *bench);
enum cli_exit bench_claim_and_settle(struct bench *bench, const char *plan);

/* ---- bench_work.c ------------------------------------------------------------------------------------ */

/* What one process did of a life. */
struct bench_share {
    enum cli_exit code;
    double begin, end, cpu_us;
    tp_counters work;
};

/* Makes a worker and starts it. What it says that is no routine is told as bench_worker_trouble. */
enum cli_exit bench_worker_start(struct bench *bench, tp_env *env, const char *plan, tp_handler_fn fn,
                                 void *arg, tp_worker **worker);
/* The worker lost its connection: told, with *code. */
bool bench_worker_trouble(enum cli_exit *code);
/* Works until all processes together have done the tasks; in this process, which counts in *done. */
void bench_live(struct bench *bench, tp_env *env, const char *plan, struct bench_share *share);
enum cli_exit bench_life(struct bench *bench, const char *plan);
enum cli_exit bench_idle(struct bench *bench, const char *plan);

/* ---- bench_pickup.c ---------------------------------------------------------------------------------- */

enum cli_exit bench_latency(struct bench *bench, const char *plan, bool same_process);
/* The handler that tells when it was called; arg is the bench. */
tp_verdict bench_pickup(tp_run *run, void *arg);

/* ---- bench_crew.c ------------------------------------------------------------------------------------ */

/* Makes the memory that processes share and, by fork, the processes: before any connection or thread. */
enum cli_exit bench_crew_open(struct bench *bench);
/* They end; NULL is accepted. */
void bench_crew_close(struct bench_crew *crew);
size_t bench_crew_size(const struct bench_crew *crew);

/* Counts of tasks done, of all processes. */
void bench_crew_reset(struct bench_crew *crew);
void bench_crew_tell(struct bench_crew *crew, int64_t done);
int64_t bench_crew_done(const struct bench_crew *crew);
/* Waits a millisecond, and looks whether this process is to stop. */
void bench_crew_rest(struct bench_crew *crew);

/* A task was picked up, in whatever process; and the wait for that. */
void bench_crew_picked(struct bench_crew *crew);
/* Of tasks that were put in before, and run a second time. */
void bench_crew_forget_picks(struct bench_crew *crew);
/* 0: not within ms. */
double bench_crew_await_pick(struct bench_crew *crew, int ms);

/* All processes live; gives what they did together. */
enum cli_exit bench_crew_live(struct bench *bench, const char *plan, struct bench_share *sum);
/* The first process runs a worker with bench_pickup, until told to end. */
enum cli_exit bench_crew_watch(struct bench *bench, const char *plan);
enum cli_exit bench_crew_watch_end(struct bench *bench);
/* It has ended before it was told to: told, with *code. */
bool bench_crew_failed(struct bench *bench, enum cli_exit *code);

/* ---- bench_clean.c ----------------------------------------------------------------------------------- */

/* A name that nobody else has, which says when it was made. */
void bench_handler_name(struct bench *bench);
/* Completes what is open. */
enum cli_exit bench_drain(struct bench *bench);
/* A connection that a failure left in whatever state is made anew; a lost database is waited for. */
tp_status bench_reopen(struct bench *bench);
/* Tries the deletes on nothing: may the user take out what the bench puts in? */
enum cli_exit bench_may_clean(struct bench *bench);
/* Takes out everything of the bench's handler. */
enum cli_exit bench_clean(struct bench *bench);
/* The same for a run that was killed: of one handler, or of all that are there. */
enum cli_exit bench_clean_left(struct bench *bench, const char *handler);

/* ---- bench_report.c ---------------------------------------------------------------------------------- */

void bench_report(struct bench *bench);
/* What --clean took out. */
void bench_report_clean(const struct bench *bench);
/* A line on a terminal's standard error; NULL takes it away. */
void bench_progress(const struct bench *bench, enum bench_measure measure, const char *plan);
void bench_progress_end(void);

#endif
