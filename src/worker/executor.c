/* The handler threads: each takes jobs from the queue and runs them, or, while the worker holds, claims for
 * itself. They come when jobs wait, and go when they have been idle for long. */
#include "worker/executor.h"

#include "worker/verdict.h"

static void *execute(void *arg) {
    struct tpi_executors *executors = arg;
    struct tpi_session session;
    struct tpi_hold hold = {.session = &session};
    bool ended = false;
    tpi_session_init(&session, executors->sessions, "executor");
    while (!ended) {
        if (tpi_poller_cycle(executors->poller, &hold)) continue;
        struct tpi_job *job = tpi_queue_pop(executors->queue, &ended);
        if (job) tpi_verdict_run(executors->runs, &session, job);
        tpi_session_drop(&session);
    }
    tpi_session_close(&session);
    return NULL;
}

/* Under the lock. There is one: executors leave their slots before they are counted out no more. */
static struct tpi_slot *take_slot(struct tpi_executors *executors, enum tpi_slot_state *was) {
    for (int i = 0; i < executors->slot_count; i++) {
        struct tpi_slot *slot = &executors->slots[i];
        if (slot->state == TPI_SLOT_TAKEN) continue;
        *was = slot->state;
        slot->state = TPI_SLOT_TAKEN;
        return slot;
    }
    return NULL;
}

bool tpi_executors_add(struct tpi_executors *executors) {
    struct tpi_queue *queue = executors->queue;
    enum tpi_slot_state was = TPI_SLOT_FREE;
    pthread_mutex_lock(&executors->life->lock);
    struct tpi_slot *slot = tpi_queue_spare(queue) ? take_slot(executors, &was) : NULL;
    if (slot) tpi_queue_count_executor(queue, 1);
    pthread_mutex_unlock(&executors->life->lock);
    if (!slot) return false;
    if (was == TPI_SLOT_LEFT) pthread_join(slot->thread, NULL);
    if (tpi_threads_start_in(executors->threads, slot, execute, executors)) return true;
    pthread_mutex_lock(&executors->life->lock);
    slot->state = TPI_SLOT_FREE;
    tpi_queue_count_executor(queue, -1);
    pthread_mutex_unlock(&executors->life->lock);
    return false;
}

void tpi_executors_join(struct tpi_executors *executors) {
    for (int i = 0; i < executors->slot_count; i++) {
        if (executors->slots[i].state == TPI_SLOT_FREE) continue;
        pthread_join(executors->slots[i].thread, NULL);
        executors->slots[i].state = TPI_SLOT_FREE;
    }
}
