/* taskpool bench: other processes, as other programs would be: each with an environment and connections of
 * its own. They are forked while there is neither, and do what they are ordered to over a pipe. When the
 * first process goes away, however, they hear it there and end. Counts go through memory that all share. */
#include "common/args.h"

#include <errno.h>
#include <poll.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"
#include "common/clocks.h"

#define TURN_MS 50 /* how late a stop may be noticed */

struct shared {
    atomic_llong done[BENCH_PROCESSES_MAX];
    atomic_bool stop;
    _Atomic double picked_at;
    sem_t picked;
};

enum order_kind { ORDER_LIVE, ORDER_WATCH, ORDER_END };
struct order {
    enum order_kind kind;
    char plan[16];
};

struct member {
    pid_t pid;
    int orders, replies; /* our ends */
    bool replied;
};

struct bench_crew {
    struct shared *shared;
    size_t slot;    /* of this process */
    bool is_member; /* then orders is where they come from */
    int orders;
    size_t count;
    bool watching; /* the first member is */
    struct member member[BENCH_PROCESSES_MAX];
};

/* ---- Shared counts ----------------------------------------------------------------------------------- */

size_t bench_crew_size(const struct bench_crew *crew) {
    return crew->count;
}

void bench_crew_reset(struct bench_crew *crew) {
    for (size_t i = 0; i < BENCH_PROCESSES_MAX; i++)
        atomic_store(&crew->shared->done[i], 0);
}

void bench_crew_tell(struct bench_crew *crew, int64_t done) {
    atomic_store(&crew->shared->done[crew->slot], done);
}

int64_t bench_crew_done(const struct bench_crew *crew) {
    int64_t sum = 0;

    for (size_t i = 0; i < BENCH_PROCESSES_MAX; i++)
        sum += atomic_load(&crew->shared->done[i]);
    return sum;
}

void bench_crew_picked(struct bench_crew *crew) {
    atomic_store(&crew->shared->picked_at, bench_now());
    (void)sem_post(&crew->shared->picked);
}

void bench_crew_forget_picks(struct bench_crew *crew) {
    while (sem_trywait(&crew->shared->picked) == 0)
        continue;
}

double bench_crew_await_pick(struct bench_crew *crew, int ms) {
    struct timespec until;

    (void)clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += (long)ms * 1000000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    return sem_timedwait(&crew->shared->picked, &until) == 0 ? atomic_load(&crew->shared->picked_at) : 0;
}

/* ---- As a member ------------------------------------------------------------------------------------- */

/* True: an order is there. */
static bool hear(struct bench_crew *crew, int ms) {
    struct pollfd file = {crew->orders, POLLIN, 0};

    (void)poll(&file, 1, ms);
    if (atomic_load(&crew->shared->stop)) bench_stop();
    if (file.revents & POLLIN) return true;
    if (file.revents) bench_stop();
    return false;
}

void bench_crew_rest(struct bench_crew *crew) {
    if (crew->is_member)
        (void)hear(crew, 1);
    else
        clock_sleep(1);
}

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

static void obey_watch(struct bench *bench, const char *plan, int replies, struct bench_share *share) {
    tp_worker *worker = NULL;
    struct order end;

    share->code = bench_worker_start(bench, bench->env, plan, bench_pickup, bench, &worker);
    if (share->code == EXIT_DONE && send_whole(replies, share, sizeof *share))
        while (!bench_stops() && !bench_worker_trouble(&share->code))
            if (hear(bench->crew, TURN_MS)) {
                (void)receive_whole(bench->crew->orders, &end, sizeof end);
                break;
            }
    tp_worker_close(worker);
}

static void obey(struct bench *bench, const struct order *order, int replies) {
    struct bench_share share;

    memset(&share, 0, sizeof share);
    share.code = args_open_env(&bench->env);
    if (share.code == EXIT_DONE && order->kind == ORDER_LIVE)
        bench_live(bench, bench->env, order->plan, &share);
    else if (share.code == EXIT_DONE)
        obey_watch(bench, order->plan, replies, &share);
    tp_env_close(bench->env);
    bench->env = NULL;
    (void)send_whole(replies, &share, sizeof share);
}

/* The user's signals are for the first process, which tells the others: one that died of a signal to all of
 * them would be a worker that died. */
static void be_member(struct bench *bench, size_t slot, int orders, int replies) {
    struct bench_crew *crew = bench->crew;
    struct order order;

    (void)signal(SIGINT, SIG_IGN);
    (void)signal(SIGHUP, SIG_IGN);
    (void)signal(SIGTERM, SIG_IGN);
    for (size_t i = 0; i < crew->count; i++) {
        (void)close(crew->member[i].orders);
        (void)close(crew->member[i].replies);
    }
    crew->is_member = true;
    crew->slot = slot;
    crew->orders = orders;
    while (receive_whole(orders, &order, sizeof order))
        obey(bench, &order, replies);
    _exit(EXIT_DONE);
}

/* ---- As the first process ---------------------------------------------------------------------------- */

static size_t wanted_members(const struct bench_settings *set) {
    if (set->wanted[BENCH_LIFE] && set->processes > 1) return (size_t)set->processes;
    return set->wanted[BENCH_LATENCY] ? 1 : 0;
}

static bool add_member(struct bench *bench) {
    struct bench_crew *crew = bench->crew;
    int orders[2];
    int replies[2];
    pid_t pid = -1;

    if (pipe(orders) != 0) return false;
    if (pipe(replies) == 0) {
        pid = fork();
        if (pid == 0) {
            (void)close(orders[1]);
            (void)close(replies[0]);
            be_member(bench, crew->count, orders[0], replies[1]);
        }
        (void)close(replies[1]);
        if (pid < 0) (void)close(replies[0]);
    }
    (void)close(orders[0]);
    if (pid < 0) (void)close(orders[1]);
    if (pid > 0)
        crew->member[crew->count++] = (struct member){.pid = pid, .orders = orders[1], .replies = replies[0]};
    return pid > 0;
}

enum cli_exit bench_crew_open(struct bench *bench) {
    enum { ACCESS = PROT_READ | PROT_WRITE, KIND = MAP_SHARED | MAP_ANONYMOUS };
    /* cppcheck-suppress invalidFunctionArg; without a file there is no descriptor */
    void *memory = mmap(NULL, sizeof(struct shared), ACCESS, KIND, -1, 0);

    if (memory == MAP_FAILED) return cli_fail(EXIT_INTERNAL, "no shared memory: %s", strerror(errno));
    bench->crew = cli_must(calloc(1, sizeof *bench->crew));
    bench->crew->shared = memory;
    if (sem_init(&bench->crew->shared->picked, 1, 0) != 0)
        return cli_fail(EXIT_INTERNAL, "no semaphore: %s", strerror(errno));
    for (size_t i = 0; i < wanted_members(bench->set); i++)
        if (!add_member(bench)) return cli_fail(EXIT_INTERNAL, "no more processes: %s", strerror(errno));
    return EXIT_DONE;
}

void bench_crew_close(struct bench_crew *crew) {
    if (!crew) return;
    atomic_store(&crew->shared->stop, true);
    for (size_t i = 0; i < crew->count; i++) {
        (void)close(crew->member[i].orders);
        (void)close(crew->member[i].replies);
    }
    for (size_t i = 0; i < crew->count; i++)
        while (waitpid(crew->member[i].pid, NULL, 0) < 0 && errno == EINTR)
            continue;
    (void)munmap(crew->shared, sizeof *crew->shared);
    free(crew);
}

static bool send_order(struct member *member, enum order_kind kind, const char *plan) {
    struct order order;

    memset(&order, 0, sizeof order);
    order.kind = kind;
    snprintf(order.plan, sizeof order.plan, "%s", plan);
    member->replied = false;
    return send_whole(member->orders, &order, sizeof order);
}

/* False: it has not replied within ms. One that is gone replies so. */
static bool take_reply(struct member *member, int ms, struct bench_share *share) {
    struct pollfd file = {member->replies, POLLIN, 0};

    if (poll(&file, 1, ms) <= 0) return false;
    member->replied = true;
    if (receive_whole(member->replies, share, sizeof *share)) return true;
    memset(share, 0, sizeof *share);
    share->code = cli_fail(EXIT_INTERNAL, "a worker's process ended before its time");
    return true;
}

/* A stop is handed on, so the wait is not for ever. */
static void await_reply(struct bench_crew *crew, struct member *member, struct bench_share *share) {
    while (!take_reply(member, TURN_MS, share))
        if (bench_stops()) atomic_store(&crew->shared->stop, true);
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
static size_t take_replies(struct bench_crew *crew, struct bench_share *sum) {
    size_t missing = 0;

    for (size_t i = 0; i < crew->count; i++) {
        struct bench_share share;

        if (crew->member[i].replied) continue;
        if (take_reply(&crew->member[i], 1, &share))
            add_share(sum, &share);
        else
            missing++;
    }
    return missing;
}

enum cli_exit bench_crew_live(struct bench *bench, const char *plan, struct bench_share *sum) {
    struct bench_crew *crew = bench->crew;

    sum->code = EXIT_DONE;
    for (size_t i = 0; i < crew->count; i++)
        (void)send_order(&crew->member[i], ORDER_LIVE, plan); /* one that is gone is seen by its reply */
    while (take_replies(crew, sum) > 0) {
        if (bench_stops() || sum->code != EXIT_DONE) atomic_store(&crew->shared->stop, true);
        clock_sleep(1);
    }
    return sum->code;
}

/* ---- Latency ----------------------------------------------------------------------------------------- */

enum cli_exit bench_crew_watch(struct bench *bench, const char *plan) {
    struct member *member = &bench->crew->member[0];
    struct bench_share share;

    (void)send_order(member, ORDER_WATCH, plan);
    await_reply(bench->crew, member, &share);
    bench->crew->watching = share.code == EXIT_DONE;
    return share.code;
}

bool bench_crew_failed(struct bench *bench, enum cli_exit *code) {
    struct bench_share share;

    if (!bench->crew->watching || !take_reply(&bench->crew->member[0], 0, &share)) return false;
    bench->crew->watching = false;
    *code = share.code;
    return true;
}

enum cli_exit bench_crew_watch_end(struct bench *bench) {
    struct member *member = &bench->crew->member[0];
    struct bench_share share;

    if (!bench->crew->watching) return EXIT_DONE;
    bench->crew->watching = false;
    (void)send_order(member, ORDER_END, "");
    await_reply(bench->crew, member, &share);
    return share.code;
}
