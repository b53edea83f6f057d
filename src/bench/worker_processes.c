/* See worker_processes.h. The processes are forked while there is neither environment nor connection, and
 * read orders from a pipe. When the first process ends, its end of the pipe closes and they end too. */
#include "worker_processes.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/args.h"
#include "common/clocks.h"
#include "results.h"
#include "shared.h"

#define POLL_MS 50 /* how late a stop may be noticed */

enum order_kind { ORDER_LIVE, ORDER_WATCH, ORDER_END };
struct order {
    enum order_kind kind;
    char plan[16];
};

struct process {
    pid_t pid;
    int orders, replies; /* our ends */
    bool replied;
};

struct bench_processes {
    size_t count;
    bool watching; /* the first of them is */
    struct process process[BENCH_PROCESSES_MAX];
};

/* ---- As a process that was started --------------------------------------------------------------------- */

static bool send_whole(int fd, const void *data, size_t size) {
    ssize_t sent;

    do
        sent = write(fd, data, size); /* less than PIPE_BUF: all or nothing */
    while (sent < 0 && errno == EINTR);
    return sent == (ssize_t)size;
}

static bool receive_whole(int fd, void *data, size_t size) {
    ssize_t got;

    do
        got = read(fd, data, size);
    while (got < 0 && errno == EINTR);
    return got == (ssize_t)size;
}

/* Where orders come from, and replies go to. */
struct ends {
    int orders, replies;
};

static void run_watch(struct bench *bench, const char *plan, struct ends ends, struct bench_share *share) {
    tp_worker *worker = NULL;
    struct order end;

    share->code = bench_worker_start(bench, bench->env, plan, bench_pickup, bench, &worker);
    if (share->code == EXIT_DONE && send_whole(ends.replies, share, sizeof *share))
        while (!bench_stops() && !bench_worker_trouble(&share->code))
            if (bench_shared_await_order(bench->shared, POLL_MS)) {
                (void)receive_whole(ends.orders, &end, sizeof end);
                break;
            }
    tp_worker_close(worker);
}

static void run_order(struct bench *bench, const struct order *order, struct ends ends) {
    struct bench_share share;

    memset(&share, 0, sizeof share);
    share.code = args_open_env(&bench->env);
    if (share.code == EXIT_DONE && order->kind == ORDER_LIVE)
        bench_live(bench, bench->env, order->plan, &share);
    else if (share.code == EXIT_DONE)
        run_watch(bench, order->plan, ends, &share);
    tp_env_close(bench->env);
    bench->env = NULL;
    (void)send_whole(ends.replies, &share, sizeof share);
}

/* The user's signals are for the first process, which stops the others: a process that a signal ends would
 * count as a worker that died. */
static void run_orders(struct bench *bench, struct ends ends) {
    struct bench_processes *processes = bench->processes;
    struct order order;

    (void)signal(SIGINT, SIG_IGN);
    (void)signal(SIGHUP, SIG_IGN);
    (void)signal(SIGTERM, SIG_IGN);
    for (size_t i = 0; i < processes->count; i++) {
        (void)close(processes->process[i].orders);
        (void)close(processes->process[i].replies);
    }
    bench_shared_join(bench->shared, processes->count, ends.orders);
    while (receive_whole(ends.orders, &order, sizeof order))
        run_order(bench, &order, ends);
    _exit(EXIT_DONE);
}

/* ---- As the first process ---------------------------------------------------------------------------- */

static size_t wanted_processes(const struct bench_settings *set) {
    if (set->wanted[BENCH_LIFE] && set->processes > 1) return (size_t)set->processes;
    return set->wanted[BENCH_LATENCY] ? 1 : 0;
}

static bool add_process(struct bench *bench) {
    struct bench_processes *processes = bench->processes;
    int orders[2];
    int replies[2];
    pid_t pid = -1;

    if (pipe(orders) != 0) return false;
    if (pipe(replies) == 0) {
        pid = fork();
        if (pid == 0) {
            (void)close(orders[1]);
            (void)close(replies[0]);
            run_orders(bench, (struct ends){orders[0], replies[1]});
        }
        (void)close(replies[1]);
        if (pid < 0) (void)close(replies[0]);
    }
    (void)close(orders[0]);
    if (pid < 0) (void)close(orders[1]);
    if (pid > 0)
        processes->process[processes->count++] =
            (struct process){.pid = pid, .orders = orders[1], .replies = replies[0]};
    return pid > 0;
}

enum cli_exit bench_processes_open(struct bench *bench) {
    bench->processes = cli_must(calloc(1, sizeof *bench->processes));
    for (size_t i = 0; i < wanted_processes(bench->set); i++)
        if (!add_process(bench)) return cli_fail(EXIT_INTERNAL, "no more processes: %s", strerror(errno));
    return EXIT_DONE;
}

void bench_processes_close(struct bench *bench) {
    struct bench_processes *processes = bench->processes;

    if (!processes) return;
    bench_shared_stop(bench->shared);
    for (size_t i = 0; i < processes->count; i++) {
        (void)close(processes->process[i].orders);
        (void)close(processes->process[i].replies);
    }
    for (size_t i = 0; i < processes->count; i++)
        while (waitpid(processes->process[i].pid, NULL, 0) < 0 && errno == EINTR)
            continue;
    free(processes);
    bench->processes = NULL;
}

static bool send_order(struct process *process, enum order_kind kind, const char *plan) {
    struct order order;

    memset(&order, 0, sizeof order);
    order.kind = kind;
    snprintf(order.plan, sizeof order.plan, "%s", plan);
    process->replied = false;
    return send_whole(process->orders, &order, sizeof order);
}

/* False: it has not replied within ms. One that is gone replies so. */
static bool take_reply(struct process *process, int ms, struct bench_share *share) {
    struct pollfd file = {process->replies, POLLIN, 0};

    if (poll(&file, 1, ms) <= 0) return false;
    process->replied = true;
    if (receive_whole(process->replies, share, sizeof *share)) return true;
    memset(share, 0, sizeof *share);
    share->code = cli_fail(EXIT_INTERNAL, "a worker's process ended before its time");
    return true;
}

/* A stop is handed on, so the wait is not for ever. */
static void await_reply(struct bench *bench, struct process *process, struct bench_share *share) {
    while (!take_reply(process, POLL_MS, share))
        if (bench_stops()) bench_shared_stop(bench->shared);
}

/* ---- Life -------------------------------------------------------------------------------------------- */

static void add_share(struct bench_share *sum, const struct bench_share *share) {
    if (sum->begin <= 0 || share->begin < sum->begin) sum->begin = share->begin;
    if (share->end > sum->end) sum->end = share->end;
    sum->cpu_us += share->cpu_us;
    bench_work_add(&sum->work, &share->work, false);
    if (sum->code == EXIT_DONE) sum->code = share->code;
}

/* Each in turn for a moment: when one fails the others would wait for its tasks. */
static size_t take_replies(struct bench_processes *processes, struct bench_share *sum) {
    size_t missing = 0;

    for (size_t i = 0; i < processes->count; i++) {
        struct bench_share share;

        if (processes->process[i].replied) continue;
        if (take_reply(&processes->process[i], 1, &share))
            add_share(sum, &share);
        else
            missing++;
    }
    return missing;
}

enum cli_exit bench_processes_live(struct bench *bench, const char *plan, struct bench_share *sum) {
    struct bench_processes *processes = bench->processes;

    sum->code = EXIT_DONE;
    for (size_t i = 0; i < processes->count; i++)
        (void)send_order(&processes->process[i], ORDER_LIVE,
                         plan); /* one that is gone is seen by its reply */
    while (take_replies(processes, sum) > 0) {
        if (bench_stops() || sum->code != EXIT_DONE) bench_shared_stop(bench->shared);
        clock_sleep(1);
    }
    return sum->code;
}

/* ---- Latency ----------------------------------------------------------------------------------------- */

enum cli_exit bench_processes_watch(struct bench *bench, const char *plan) {
    struct process *process = &bench->processes->process[0];
    struct bench_share share;

    (void)send_order(process, ORDER_WATCH, plan);
    await_reply(bench, process, &share);
    bench->processes->watching = share.code == EXIT_DONE;
    return share.code;
}

bool bench_processes_failed(struct bench *bench, enum cli_exit *code) {
    struct bench_share share;

    if (!bench->processes->watching || !take_reply(&bench->processes->process[0], 0, &share)) return false;
    bench->processes->watching = false;
    *code = share.code;
    return true;
}

enum cli_exit bench_processes_watch_end(struct bench *bench) {
    struct process *process = &bench->processes->process[0];
    struct bench_share share;

    if (!bench->processes->watching) return EXIT_DONE;
    bench->processes->watching = false;
    (void)send_order(process, ORDER_END, "");
    await_reply(bench, process, &share);
    return share.code;
}
