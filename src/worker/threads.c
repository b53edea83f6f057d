/* Starts and joins a worker's threads. Each thread knows its worker and is registered with the watchdog. */
#include "worker/threads.h"

#include <stdlib.h>

#include "base/error.h"

/* LEFT: its thread is at its end, and is to be joined. */
enum state { FREE, TAKEN, LEFT };

struct tpi_slot {
    enum state state;
    pthread_t thread; /* unless FREE */
    struct tpi_threads *threads;
    void *(*main)(void *);
    void *arg;
};

bool tpi_threads_init(struct tpi_threads *threads, size_t most) {
    threads->slots = calloc(most, sizeof *threads->slots);
    threads->slot_count = most;
    return threads->slots;
}

void tpi_threads_free(struct tpi_threads *threads) {
    free(threads->slots);
}

static void leave(struct tpi_slot *slot, enum state state) {
    struct tpi_lifetime *life = slot->threads->life;
    pthread_mutex_lock(&life->lock);
    slot->state = state;
    slot->threads->live--;
    tpi_signal_all(&life->changed);
    pthread_mutex_unlock(&life->lock);
}

static void *live(void *arg) {
    struct tpi_slot *slot = arg;
    struct tpi_wait wait;
    tpi_lifetime_set_here(slot->threads->life);
    tpi_watchdog_enter(slot->threads->watchdog, &wait);
    slot->main(slot->arg);
    tpi_watchdog_leave(slot->threads->watchdog);
    leave(slot, LEFT);
    return NULL;
}

/* live counts the thread before it begins. NULL: one that is not needed any more has not left yet. */
static struct tpi_slot *take_slot(struct tpi_threads *threads) {
    struct tpi_slot *slot = threads->slots, *end = slot + threads->slot_count;
    pthread_mutex_lock(&threads->life->lock);
    while (slot < end && slot->state == TAKEN)
        slot++;
    bool left = slot < end && slot->state == LEFT;
    if (slot < end) {
        slot->state = TAKEN;
        threads->live++;
    }
    pthread_mutex_unlock(&threads->life->lock);
    if (left) pthread_join(slot->thread, NULL);
    return slot < end ? slot : NULL;
}

tp_status tpi_threads_start(struct tpi_threads *threads, void *(*main)(void *), void *arg) {
    struct tpi_slot *slot = take_slot(threads);
    if (!slot) return tpi_error(TP_NOMEM, "tp_worker_start: no more threads");
    slot->threads = threads;
    slot->main = main;
    slot->arg = arg;
    int code = pthread_create(&slot->thread, NULL, live, slot);
    if (code == 0) return TP_OK;
    leave(slot, FREE);
    return tpi_error(TP_NOMEM, "tp_worker_start: the system gives no more threads (error %d)", code);
}

void tpi_threads_join(struct tpi_threads *threads) {
    pthread_mutex_lock(&threads->life->lock);
    while (threads->live)
        tpi_signal_wait(&threads->life->changed, INT64_MAX);
    pthread_mutex_unlock(&threads->life->lock);
    for (size_t i = 0; i < threads->slot_count; i++) {
        struct tpi_slot *slot = &threads->slots[i];
        if (slot->state == LEFT) pthread_join(slot->thread, NULL);
        slot->state = FREE;
    }
}
