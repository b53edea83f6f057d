/* The worker's threads: those that are always there, and the handler threads, which come when tasks wait and
 * go when they have been idle for long. */
#include "worker/worker.h"

#include <stdlib.h>

#include "worker/lookout.h"

struct birth {
    struct tp_worker *worker;
    void *(*main)(void *);
    struct tpi_place *place; /* NULL: not a handler thread */
};

static void *live(void *arg) {
    struct birth birth = *(struct birth *)arg;
    free(arg);
    struct tpi_wait wait;
    tpi_worker_set_here(birth.worker);
    tpi_lookout_enter(birth.worker, &wait);
    birth.main(birth.worker);
    tpi_lookout_leave(birth.worker);
    pthread_mutex_lock(&birth.worker->lock);
    if (birth.place) birth.place->seat = TPI_SEAT_LEFT;
    birth.worker->live_threads--;
    pthread_cond_broadcast(&birth.worker->life_changed);
    pthread_mutex_unlock(&birth.worker->lock);
    return NULL;
}

/* live_threads counts it before it begins. */
static int create(pthread_t *thread, struct tp_worker *worker, void *(*main)(void *),
                  struct tpi_place *place) {
    struct birth *birth = malloc(sizeof *birth);
    int code = -1;
    if (birth) {
        *birth = (struct birth){worker, main, place};
        code = pthread_create(thread, NULL, live, birth);
    }
    if (code == 0) return 0;
    free(birth);
    pthread_mutex_lock(&worker->lock);
    worker->live_threads--;
    pthread_mutex_unlock(&worker->lock);
    return code;
}

tp_status tpi_threads_start(struct tp_worker *worker, void *(*main)(void *)) {
    pthread_mutex_lock(&worker->lock);
    worker->live_threads++;
    pthread_mutex_unlock(&worker->lock);
    int code = create(&worker->threads[worker->thread_count], worker, main, NULL);
    if (code != 0)
        return tpi_error(TP_NOMEM, "tp_worker_start: the system gives no more threads (error %d)", code);
    worker->thread_count++;
    return TP_OK;
}

size_t tpi_threads_spare(const struct tp_worker *worker) {
    if (worker->life == TPI_LIFE_STEPPING) return 0;
    return (size_t)worker->options.threads_max - worker->runners;
}

/* Under the lock. There is one: runners leave their seats before they are counted out no more. */
static struct tpi_place *take_place(struct tp_worker *worker, enum tpi_seat *was) {
    for (int i = 0; i < worker->options.threads_max; i++) {
        struct tpi_place *place = &worker->places[i];
        if (place->seat == TPI_SEAT_TAKEN) continue;
        *was = place->seat;
        place->seat = TPI_SEAT_TAKEN;
        return place;
    }
    return NULL;
}

bool tpi_threads_add_runner(struct tp_worker *worker) {
    enum tpi_seat was = TPI_SEAT_FREE;
    pthread_mutex_lock(&worker->lock);
    struct tpi_place *place = tpi_threads_spare(worker) ? take_place(worker, &was) : NULL;
    if (place) {
        worker->runners++;
        worker->live_threads++;
    }
    pthread_mutex_unlock(&worker->lock);
    if (!place) return false;
    if (was == TPI_SEAT_LEFT) pthread_join(place->thread, NULL);
    if (create(&place->thread, worker, tpi_runner_main, place) == 0) return true;
    pthread_mutex_lock(&worker->lock);
    place->seat = TPI_SEAT_FREE;
    worker->runners--;
    pthread_mutex_unlock(&worker->lock);
    return false;
}

void tpi_threads_join(struct tp_worker *worker) {
    for (size_t i = 0; i < worker->thread_count; i++)
        pthread_join(worker->threads[i], NULL);
    worker->thread_count = 0;
    for (int i = 0; i < worker->options.threads_max; i++) {
        if (worker->places[i].seat == TPI_SEAT_FREE) continue;
        pthread_join(worker->places[i].thread, NULL);
        worker->places[i].seat = TPI_SEAT_FREE;
    }
}
