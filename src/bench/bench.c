/* taskpool-bench(1), which taskpool bench starts: which measures run, in which order, and that everything is
 * taken out again whatever happens. calls.c has the measures of one connection, bench_worker.c those of
 * workers, worker_processes.c the other processes, latency.c waits, cleaning.c the taking out, report.c the
 * figures. */
#include "bench.h"

#include <stdlib.h>
#include <string.h>

#include "bench_worker.h"
#include "calls.h"
#include "cleaning.h"
#include "common/args.h"
#include "common/progress.h"
#include "report.h"
#include "results.h"
#include "shared.h"
#include "worker_processes.h"

/* ---- Measures ---------------------------------------------------------------------------------------- */

static enum cli_exit run_life(struct bench *bench, const char *plan) {
    struct bench_share share = {.code = EXIT_DONE};
    struct bench_cost cost = {0};
    enum cli_exit code = bench_put(bench, bench->set->tasks, NULL);

    if (code != EXIT_DONE) return code;
    bench_shared_reset(bench->shared);
    if (bench->set->processes > 1)
        share.code = bench_processes_live(bench, plan, &share);
    else
        bench_live(bench, bench->env, plan, &share);
    if (share.code != EXIT_DONE) return share.code;
    if (bench_stops()) return EXIT_INTERRUPTED;
    cost.seconds = share.end - share.begin;
    cost.cpu_us = share.cpu_us;
    cost.work = share.work;
    bench_cost_figures(bench_result_new(bench, BENCH_LIFE, plan), bench->set->tasks, &cost);
    return EXIT_DONE;
}

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
    [BENCH_LIFE] = {run_life, true, false},
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

/* A claim that finds nothing, because no task of the handler is there yet. */
static tp_status try_plan(const struct bench *bench, const char *plan) {
    tp_claim_request request = TP_CLAIM_INIT;
    const char *handler = bench->handler;
    bool holds = strcmp(plan, "hold") == 0;
    tp_batch *none = NULL;
    tp_status status = holds ? tp_begin(bench->conn) : TP_OK;

    request.handlers = &handler;
    request.handler_count = 1;
    request.plan = plan;
    if (status == TP_OK) status = tp_claim(bench->conn, &request, &none);
    tp_batch_free(none);
    return status == TP_NONE && holds ? tp_rollback(bench->conn) : status;
}

/* Asked for: each must be possible. Else the pool's own, the leased one, and hold where it is possible. */
static enum cli_exit choose_plans(const struct bench *bench, struct bench_settings *set) {
    const tp_conn_info *about = tp_conn_about(bench->conn);
    tp_status status = TP_OK;

    for (size_t i = 0; i < set->plan_count; i++) {
        status = try_plan(bench, set->plans[i]);
        if (status < TP_OK) return cli_fail_tp(status);
    }
    if (set->plan_count) return EXIT_DONE;
    add_plan(set, about->leased_plan);
    add_plan(set, about->plan);
    status = try_plan(bench, "hold");
    if (status >= TP_OK) add_plan(set, "hold");
    if (status == TP_UNSUPPORTED) status = tp_rollback(bench->conn);
    return status < TP_OK ? cli_fail_tp(status) : EXIT_DONE;
}

/* ---- The program ------------------------------------------------------------------------------------- */

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
    progress_hide();
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
    enum cli_exit code = bench_shared_open(&bench->shared);

    if (code == EXIT_DONE) code = bench_processes_open(bench);
    if (code != EXIT_DONE) return code;
    bench->conn = args_connect();
    bench->env = args_env();
    code = choose_plans(bench, set);
    if (code == EXIT_DONE) code = bench_may_clean(bench);
    if (code == EXIT_DONE) code = measure(bench);
    if (code == EXIT_DONE) bench_report(bench);
    return code;
}

static enum cli_exit clean(struct bench *bench, const char *handler) {
    enum cli_exit code;

    bench->conn = args_connect();
    code = bench_clean_left(bench, handler);
    if (code == EXIT_DONE) bench_report_clean(bench);
    return code;
}

int main(int argc, char **argv) {
    static char name[] = "bench"; /* of the command */
    struct bench_settings set;
    struct bench bench = {.set = &set};
    const char *handler = NULL;
    enum cli_exit code;

    cli_begin();
    args_take_over(argc, argv);
    if (argc > 0) argv[0] = name;
    (void)args_own_files();
    bool cleans = bench_read_options(argc, (const char **)argv, &set, &handler);
    common.no_pager = 1; /* the report is printed as it comes */
    bench_catch_stops();
    bench_handler_name(&bench);
    bench.params = make_params(set.payload);
    code = cleans ? clean(&bench, handler) : run_bench(&bench, &set);
    bench_processes_close(&bench);
    bench_shared_close(bench.shared);
    free(bench.results);
    free(bench.params);
    cli_end(code);
}
