/* taskpool bench: which measures run, in which order, and that everything is taken out again whatever
 * happens. bench.h says where the rest is. */
#include "common/args.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "bench.h"
#include "common/signals.h"

/* ---- Stopping ---------------------------------------------------------------------------------------- */

static atomic_int stops;

int bench_stops(void) {
    return atomic_load(&stops);
}

void bench_stop(void) {
    (void)atomic_fetch_add(&stops, 1);
}

/* The first ends the measures, the second the taking out, the third everything. */
static void on_stop(int number) {
    bench_stop();
    if (bench_stops() > 2) signals_end(number);
}

static void catch_signals(void) {
    signals_catch(SIGINT, on_stop, 0);
    signals_catch(SIGTERM, on_stop, 0);
    signals_catch(SIGHUP, on_stop, 0);
}

/* ---- What it costs ----------------------------------------------------------------------------------- */

double bench_now(void) {
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

double bench_cpu_us(void) {
    struct rusage used;

    (void)getrusage(RUSAGE_SELF, &used);
    return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1e6 +
           (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

void bench_work_add(tp_counters *a, const tp_counters *b, bool less) {
    uint64_t sign = less ? UINT64_MAX : 1;

    a->statements += sign * b->statements;
    a->round_trips += sign * b->round_trips;
    a->commits += sign * b->commits;
}

void bench_cost_begin(struct bench_cost *cost, const tp_conn *conn) {
    bench_work_add(&cost->work, tp_conn_counters(conn), true);
    cost->cpu_us -= bench_cpu_us();
    cost->seconds -= bench_now();
}

void bench_cost_end(struct bench_cost *cost, const tp_conn *conn) {
    cost->seconds += bench_now();
    cost->cpu_us += bench_cpu_us();
    bench_work_add(&cost->work, tp_conn_counters(conn), false);
}

void bench_cost_tell(struct bench_result *result, int64_t tasks, const struct bench_cost *cost) {
    double count = (double)tasks;

    result->tasks = tasks;
    bench_figure(result, FIGURE_SECONDS, cost->seconds);
    bench_figure(result, FIGURE_RATE, cost->seconds > 0 ? count / cost->seconds : 0);
    bench_figure(result, FIGURE_STATEMENTS, (double)cost->work.statements / count);
    bench_figure(result, FIGURE_TRIPS, (double)cost->work.round_trips / count);
    bench_figure(result, FIGURE_COMMITS, (double)cost->work.commits / count);
    bench_figure(result, FIGURE_CPU, cost->cpu_us / count);
}

/* ---- Results ----------------------------------------------------------------------------------------- */

struct bench_result *bench_result_new(struct bench *bench, enum bench_measure measure, const char *plan) {
    struct bench_result *result;

    bench->results = cli_must(realloc(bench->results, (bench->count + 1) * sizeof *bench->results));
    result = &bench->results[bench->count++];
    memset(result, 0, sizeof *result);
    result->measure = measure;
    result->round = bench->round;
    result->plan = plan;
    return result;
}

void bench_figure(struct bench_result *result, enum bench_figure figure, double value) {
    result->has[figure] = true;
    result->figure[figure] = value;
}

/* ---- Measures ---------------------------------------------------------------------------------------- */

static enum cli_exit run_latency(struct bench *bench, const char *plan) {
    return bench_latency(bench, plan, false);
}

static enum cli_exit run_latency_same(struct bench *bench, const char *plan) {
    return bench_latency(bench, plan, true);
}

static enum cli_exit run_enqueue_one(struct bench *bench, const char *plan) {
    (void)plan;
    return bench_enqueue_one(bench);
}

static enum cli_exit run_enqueue_many(struct bench *bench, const char *plan) {
    (void)plan;
    return bench_enqueue_many(bench);
}

/* What claim has measured together with it is not measured again. */
static enum cli_exit run_settle(struct bench *bench, const char *plan) {
    return bench->set->wanted[BENCH_CLAIM] ? EXIT_DONE : bench_claim_and_settle(bench, plan);
}

static const struct {
    enum cli_exit (*run)(struct bench *bench, const char *plan);
    bool by_plan, quiet;
} measures[BENCH_MEASURES] = {
    [BENCH_ENQUEUE_ONE] = {run_enqueue_one, false, false},
    [BENCH_ENQUEUE_MANY] = {run_enqueue_many, false, false},
    [BENCH_CLAIM] = {bench_claim_and_settle, true, false},
    [BENCH_SETTLE] = {run_settle, true, false},
    [BENCH_LIFE] = {bench_life, true, false},
    [BENCH_LATENCY] = {run_latency, true, true},
    [BENCH_LATENCY_SAME] = {run_latency_same, true, true},
    [BENCH_IDLE] = {bench_idle, true, true},
};

/* What a measure leaves open would be claimed by the next. Where a database keeps dead rows for a while, each
 * would also have to step over those of all before it: its tasks are sooner than theirs. */
static enum cli_exit run_measure(struct bench *bench, enum bench_measure measure) {
    size_t times = measures[measure].by_plan ? bench->set->plan_count : 1;
    enum cli_exit code = EXIT_DONE;

    for (size_t i = 0; i < times && code == EXIT_DONE; i++) {
        const char *plan = measures[measure].by_plan ? bench->set->plans[i] : NULL;

        bench_progress(bench, measure, plan);
        if (bench->priority > INT16_MIN) bench->priority--;
        code = measures[measure].run(bench, plan);
        if (code == EXIT_DONE && bench_stops()) code = EXIT_INTERRUPTED;
    }
    if (code == EXIT_DONE && !measures[measure].by_plan) code = bench_drain(bench);
    return code;
}

static enum cli_exit run_rounds(struct bench *bench, bool quiet) {
    enum cli_exit code = EXIT_DONE;

    for (bench->round = 1; bench->round <= bench->set->rounds && code == EXIT_DONE; bench->round++)
        for (int i = 0; i < BENCH_MEASURES && code == EXIT_DONE; i++)
            if (bench->set->wanted[i] && measures[i].quiet == quiet)
                code = run_measure(bench, (enum bench_measure)i);
    return code;
}

/* A claim that finds nothing steps over all dead rows. That is no part of what one task waits. */
static enum cli_exit run_all(struct bench *bench) {
    enum cli_exit code = run_rounds(bench, true);

    return code == EXIT_DONE ? run_rounds(bench, false) : code;
}

/* ---- Plans ------------------------------------------------------------------------------------------- */

static void add_plan(struct bench_settings *set, const char *plan) {
    for (size_t i = 0; i < set->plan_count; i++)
        if (strcmp(set->plans[i], plan) == 0) return;
    if (set->plan_count < BENCH_PLANS_MAX) set->plans[set->plan_count++] = plan;
}

/* Asked for: each must be possible. Else the pool's own, the leased one, and hold where it is possible. */
static enum cli_exit choose_plans(const struct bench *bench, struct bench_settings *set) {
    const tp_conn_info *about = tp_conn_about(bench->conn);

    for (size_t i = 0; i < set->plan_count; i++) {
        tp_status status = tp_plan_check(bench->conn, set->plans[i]);

        if (status != TP_OK) return cli_fail_tp(status);
    }
    if (set->plan_count) return EXIT_DONE;
    add_plan(set, about->leased_plan);
    add_plan(set, about->plan);
    if (tp_plan_check(bench->conn, "hold") == TP_OK) add_plan(set, "hold");
    return EXIT_DONE;
}

/* ---- The command ------------------------------------------------------------------------------------- */

/* On purpose or not, the pool is left as it was. The first failure is the command's. Before there are
 * thousands of tasks one goes there and back. */
static enum cli_exit measure(struct bench *bench) {
    enum cli_exit code = bench_put(bench, 1, NULL);
    enum cli_exit cleaned;

    if (code == EXIT_DONE) {
        code = bench_clean(bench);
        if (code != EXIT_DONE) return code;
        code = run_all(bench);
    }
    bench_progress_end();
    cleaned = bench_clean(bench);
    if (code == EXIT_INTERRUPTED && cleaned == EXIT_DONE)
        return cli_fail(code, "interrupted; what was put in was taken out again");
    return code == EXIT_DONE ? cleaned : code;
}

static char *make_params(int64_t bytes) {
    char *params = cli_must(malloc((size_t)bytes + 1));
    uint32_t state = 2463534242U; /* xorshift: text that cannot be compressed to nothing */

    for (int64_t i = 0; i < bytes; i++) {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        params[i] = "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_-"[state % 64];
    }
    params[bytes] = '\0';
    return params;
}

static enum cli_exit run_bench(struct bench *bench, struct bench_settings *set) {
    enum cli_exit code = bench_crew_open(bench);

    if (code == EXIT_DONE) code = args_connect(&bench->env, &bench->conn);
    if (code == EXIT_DONE) code = choose_plans(bench, set);
    if (code == EXIT_DONE) code = bench_may_clean(bench);
    if (code == EXIT_DONE) code = measure(bench);
    if (code == EXIT_DONE) bench_report(bench);
    return code;
}

enum cli_exit bench_command(int argc, const char **argv) {
    struct bench_settings set;
    struct bench bench = {.set = &set};
    const char *handler = NULL;
    bool clean = false;
    enum cli_exit code = EXIT_DONE;

    if (!bench_read_options(argc, argv, &set, &clean, &handler, &code)) return code;
    catch_signals();
    bench_handler_name(&bench);
    bench.params = make_params(set.payload);
    if (clean) {
        code = args_connect(&bench.env, &bench.conn);
        if (code == EXIT_DONE) code = bench_clean_left(&bench, handler);
    } else {
        code = run_bench(&bench, &set);
    }
    bench_crew_close(bench.crew);
    args_disconnect(bench.env, bench.conn);
    free(bench.results);
    free(bench.params);
    return code;
}
