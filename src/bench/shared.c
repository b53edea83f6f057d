/* The memory that the processes of a bench share. See shared.h. */
#include "shared.h"

#include <errno.h>
#include <poll.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "common/clocks.h"
#include "common/signals.h"
#include "results.h"

struct memory {
    atomic_llong done[BENCH_PROCESSES_MAX];
    atomic_bool stop;
    _Atomic double picked_at;
    sem_t picked;
};

struct bench_shared {
    struct memory *memory;
    size_t slot; /* of this process */
    int orders;  /* -1: it is the first */
};

enum cli_exit bench_shared_open(struct bench_shared **shared) {
    enum { ACCESS = PROT_READ | PROT_WRITE, KIND = MAP_SHARED | MAP_ANONYMOUS };
    /* cppcheck-suppress invalidFunctionArg; without a file there is no descriptor */
    void *memory = mmap(NULL, sizeof(struct memory), ACCESS, KIND, -1, 0);

    if (memory == MAP_FAILED) return cli_fail(EXIT_INTERNAL, "no shared memory: %s", strerror(errno));
    *shared = cli_must(calloc(1, sizeof **shared));
    (*shared)->memory = memory;
    (*shared)->orders = -1;
    if (sem_init(&(*shared)->memory->picked, 1, 0) != 0)
        return cli_fail(EXIT_INTERNAL, "no semaphore: %s", strerror(errno));
    return EXIT_DONE;
}

void bench_shared_close(struct bench_shared *shared) {
    if (!shared) return;
    (void)munmap(shared->memory, sizeof *shared->memory);
    free(shared);
}

void bench_shared_join(struct bench_shared *shared, size_t slot, int orders) {
    shared->slot = slot;
    shared->orders = orders;
}

/* ---- Stopping ---------------------------------------------------------------------------------------- */

static atomic_int stops;

int bench_stops(void) {
    return atomic_load(&stops);
}

static void stop(void) {
    (void)atomic_fetch_add(&stops, 1);
}

/* The first ends the measures, the second the taking out, the third everything. */
static void on_stop(int number) {
    stop();
    if (bench_stops() > 2) signals_end(number);
}

void bench_catch_stops(void) {
    signals_catch(SIGINT, on_stop, 0);
    signals_catch(SIGTERM, on_stop, 0);
    signals_catch(SIGHUP, on_stop, 0);
}

void bench_shared_stop(struct bench_shared *shared) {
    atomic_store(&shared->memory->stop, true);
}

bool bench_shared_await_order(struct bench_shared *shared, int ms) {
    struct pollfd file = {shared->orders, POLLIN, 0};

    (void)poll(&file, 1, ms);
    if (atomic_load(&shared->memory->stop)) stop();
    if (file.revents & POLLIN) return true;
    if (file.revents) stop();
    return false;
}

void bench_shared_rest(struct bench_shared *shared) {
    if (shared->orders >= 0)
        (void)bench_shared_await_order(shared, 1);
    else
        clock_sleep(1);
}

/* ---- Tasks done -------------------------------------------------------------------------------------- */

void bench_shared_reset(struct bench_shared *shared) {
    for (size_t i = 0; i < BENCH_PROCESSES_MAX; i++)
        atomic_store(&shared->memory->done[i], 0);
}

void bench_shared_set_done(struct bench_shared *shared, int64_t done) {
    atomic_store(&shared->memory->done[shared->slot], done);
}

int64_t bench_shared_done(const struct bench_shared *shared) {
    int64_t sum = 0;

    for (size_t i = 0; i < BENCH_PROCESSES_MAX; i++)
        sum += atomic_load(&shared->memory->done[i]);
    return sum;
}

/* ---- Tasks picked up --------------------------------------------------------------------------------- */

void bench_shared_picked(struct bench_shared *shared) {
    atomic_store(&shared->memory->picked_at, bench_now());
    (void)sem_post(&shared->memory->picked);
}

void bench_shared_forget_picks(struct bench_shared *shared) {
    while (sem_trywait(&shared->memory->picked) == 0)
        continue;
}

double bench_shared_await_pick(struct bench_shared *shared, int ms) {
    struct timespec until;

    (void)clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += (long)ms * 1000000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    return sem_timedwait(&shared->memory->picked, &until) == 0 ? atomic_load(&shared->memory->picked_at) : 0;
}
