/* Begin and end of a worker's threads: each knows whose it is, and is seen by the watchdog. */
#include "worker/threads.h"

#include <stdlib.h>

#include "base/error.h"

struct start {
    struct tpi_threads *threads;
    struct tpi_slot *slot; /* NULL: one that is always there */
    void *(*main)(void *);
    void *arg;
};

static void *live(void *arg) {
    struct start start = *(struct start *)arg;
    struct tpi_threads *threads = start.threads;
    free(arg);
    struct tpi_wait wait;
    tpi_lifetime_set_here(threads->life);
    tpi_watchdog_enter(&threads->watchdog, &wait);
    start.main(start.arg);
    tpi_watchdog_leave(&threads->watchdog);
    pthread_mutex_lock(&threads->life->lock);
    if (start.slot) start.slot->state = TPI_SLOT_LEFT;
    threads->live--;
    tpi_signal_all(&threads->changed);
    pthread_mutex_unlock(&threads->life->lock);
    return NULL;
}

static void count(struct tpi_threads *threads, int change) {
    pthread_mutex_lock(&threads->life->lock);
    threads->live += (size_t)change;
    pthread_mutex_unlock(&threads->life->lock);
}

/* live counts it before it begins. */
static int create(pthread_t *thread, const struct start *given) {
    struct tpi_threads *threads = given->threads;
    struct start *start = malloc(sizeof *start);
    int code = -1;
    count(threads, 1);
    if (start) {
        *start = *given;
        code = pthread_create(thread, NULL, live, start);
    }
    if (code == 0) return 0;
    free(start);
    count(threads, -1);
    return code;
}

tp_status tpi_threads_start(struct tpi_threads *threads, void *(*main)(void *), void *arg) {
    int code = create(&threads->always[threads->count], &(struct start){threads, NULL, main, arg});
    if (code != 0)
        return tpi_error(TP_NOMEM, "tp_worker_start: the system gives no more threads (error %d)", code);
    threads->count++;
    return TP_OK;
}

bool tpi_threads_start_in(struct tpi_threads *threads, struct tpi_slot *slot, void *(*main)(void *),
                          void *arg) {
    return create(&slot->thread, &(struct start){threads, slot, main, arg}) == 0;
}

void tpi_threads_join(struct tpi_threads *threads) {
    for (size_t i = 0; i < threads->count; i++)
        pthread_join(threads->always[i], NULL);
    threads->count = 0;
}
