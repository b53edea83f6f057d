/* The worker's threads: those that are always there, and the handler threads, which come when tasks wait and
 * go when they have been idle for long. */
#include "worker/worker.h"

#include <stdlib.h>

#include "worker/watchdog.h"

struct start {
    struct tp_worker *worker;
    void *(*main)(void *);
    void *arg;
    struct tpi_slot *slot; /* NULL: not a handler thread */
};

static void *live(void *arg) {
    struct start start = *(struct start *)arg;
    free(arg);
    struct tpi_wait wait;
    tpi_lifetime_set_here(&start.worker->life);
    tpi_watchdog_enter(&start.worker->watchdog, &wait);
    start.main(start.arg);
    tpi_watchdog_leave(&start.worker->watchdog);
    pthread_mutex_lock(&start.worker->life.lock);
    if (start.slot) start.slot->state = TPI_SLOT_LEFT;
    start.worker->live_threads--;
    tpi_signal_all(&start.worker->life_changed);
    pthread_mutex_unlock(&start.worker->life.lock);
    return NULL;
}

/* live_threads counts it before it begins. */
static int create(pthread_t *thread, struct tp_worker *worker, void *(*main)(void *), void *arg,
                  struct tpi_slot *slot) {
    struct start *start = malloc(sizeof *start);
    int code = -1;
    if (start) {
        *start = (struct start){worker, main, arg, slot};
        code = pthread_create(thread, NULL, live, start);
    }
    if (code == 0) return 0;
    free(start);
    pthread_mutex_lock(&worker->life.lock);
    worker->live_threads--;
    pthread_mutex_unlock(&worker->life.lock);
    return code;
}

tp_status tpi_threads_start(struct tp_worker *worker, void *(*main)(void *), void *arg) {
    pthread_mutex_lock(&worker->life.lock);
    worker->live_threads++;
    pthread_mutex_unlock(&worker->life.lock);
    int code = create(&worker->threads[worker->thread_count], worker, main, arg, NULL);
    if (code != 0)
        return tpi_error(TP_NOMEM, "tp_worker_start: the system gives no more threads (error %d)", code);
    worker->thread_count++;
    return TP_OK;
}

size_t tpi_threads_spare(const struct tp_worker *worker) {
    if (worker->state == TPI_LIFE_STEPPING) return 0;
    return (size_t)worker->options.threads_max - worker->executors;
}

/* Under the lock. There is one: executors leave their seats before they are counted out no more. */
static struct tpi_slot *take_slot(struct tp_worker *worker, enum tpi_slot_state *was) {
    for (int i = 0; i < worker->options.threads_max; i++) {
        struct tpi_slot *slot = &worker->slots[i];
        if (slot->state == TPI_SLOT_TAKEN) continue;
        *was = slot->state;
        slot->state = TPI_SLOT_TAKEN;
        return slot;
    }
    return NULL;
}

bool tpi_threads_add_executor(struct tp_worker *worker) {
    enum tpi_slot_state was = TPI_SLOT_FREE;
    pthread_mutex_lock(&worker->life.lock);
    struct tpi_slot *slot = tpi_threads_spare(worker) ? take_slot(worker, &was) : NULL;
    if (slot) {
        worker->executors++;
        worker->live_threads++;
    }
    pthread_mutex_unlock(&worker->life.lock);
    if (!slot) return false;
    if (was == TPI_SLOT_LEFT) pthread_join(slot->thread, NULL);
    if (create(&slot->thread, worker, tpi_executor_main, worker, slot) == 0) return true;
    pthread_mutex_lock(&worker->life.lock);
    slot->state = TPI_SLOT_FREE;
    worker->executors--;
    pthread_mutex_unlock(&worker->life.lock);
    return false;
}

void tpi_threads_join(struct tp_worker *worker) {
    for (size_t i = 0; i < worker->thread_count; i++)
        pthread_join(worker->threads[i], NULL);
    worker->thread_count = 0;
    for (int i = 0; i < worker->options.threads_max; i++) {
        if (worker->slots[i].state == TPI_SLOT_FREE) continue;
        pthread_join(worker->slots[i].thread, NULL);
        worker->slots[i].state = TPI_SLOT_FREE;
    }
}
