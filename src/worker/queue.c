/* The tasks that wait for an executor: how many may come, who takes them, and when more are worth a claim. No
 * database calls here. */
#include "worker/worker.h"

#include "base/clock.h"

/* Under the lock. Completions beyond one group that the completer has not written yet take room too: a
 * database that does not take them gets no more claims. */
static size_t unsettled(const struct tp_worker *worker) {
    size_t count = worker->settle_list.count;
    return count > worker->options.settle_count ? count - worker->options.settle_count : 0;
}

/* Under the lock. Free places, and handler threads that have nothing to do or could be started. */
static size_t room(const struct tp_worker *worker) {
    size_t most = worker->options.queue + worker->idle + tpi_threads_spare(worker);
    size_t used = worker->queue.count + unsettled(worker);
    return most > used ? most - used : 0;
}

/* Under the lock. A claim for every single place that gets free would cost a round trip a task, so half of
 * the queue is to be free. */
static bool worth_a_claim(const struct tp_worker *worker) {
    return worker->queue.count <= worker->options.queue / 2 && room(worker) > 0;
}

size_t tpi_queue_room(struct tp_worker *worker) {
    size_t batch = worker->options.batch;
    pthread_mutex_lock(&worker->life.lock);
    size_t places = worth_a_claim(worker) ? room(worker) : 0;
    pthread_mutex_unlock(&worker->life.lock);
    if (places && worker->options.when_full == TP_FULL_ABORT) return batch;
    return places < batch ? places : batch;
}

void tpi_queue_wait_room(struct tp_worker *worker, int64_t until_ms) {
    pthread_mutex_lock(&worker->life.lock);
    while (!worth_a_claim(worker) && !tpi_lifetime_stopping(&worker->life) && tpi_clock_mono_ms() < until_ms)
        tpi_signal_wait(&worker->life, &worker->claim, until_ms);
    pthread_mutex_unlock(&worker->life.lock);
}

bool tpi_queue_push(struct tp_worker *worker, struct tpi_job *job) {
    pthread_mutex_lock(&worker->life.lock);
    bool placed = room(worker) > 0;
    bool short_handed = placed && worker->idle <= worker->queue.count && tpi_threads_spare(worker) > 0;
    if (placed) tpi_list_push(&worker->queue, job);
    tpi_signal_one(&worker->work);
    pthread_mutex_unlock(&worker->life.lock);
    /* One that the system does not give is made up for by those that are there. */
    if (short_handed) (void)tpi_threads_add_executor(worker);
    return placed;
}

/* Under the lock. */
static struct tpi_job *take_first(struct tp_worker *worker) {
    struct tpi_job *job = tpi_list_pop(&worker->queue);
    if (job && worth_a_claim(worker)) tpi_signal_one(&worker->claim);
    return job;
}

bool tpi_queue_is_stuck(const struct tp_worker *worker) {
    return worker->unanswered || unsettled(worker) > 0;
}

/* Under the lock. While what was done cannot be stored nothing is begun: should the process die, or the
 * leases end, before the database is back, all that was done meanwhile would be done again. */
static bool may_start(const struct tp_worker *worker) {
    return worker->queue.count && !worker->unanswered;
}

/* Under the lock. False: this thread is to end, because it has been idle for too long or the worker stops. */
static bool await_work(struct tp_worker *worker) {
    int64_t until = tpi_clock_mono_ms() + worker->options.keep_alive_ms;
    while (!may_start(worker) && !tpi_lifetime_stopping(&worker->life) && !worker->holding) {
        bool surplus = worker->executors > (size_t)worker->options.threads;
        if (surplus && tpi_clock_mono_ms() >= until) return false;
        tpi_signal_wait(&worker->life, &worker->work, surplus ? until : INT64_MAX);
    }
    return !tpi_lifetime_stopping(&worker->life);
}

struct tpi_job *tpi_queue_pop(struct tp_worker *worker, bool *ended) {
    struct tpi_job *job = NULL;
    pthread_mutex_lock(&worker->life.lock);
    worker->idle++;
    tpi_signal_one(&worker->claim);
    *ended = !await_work(worker);
    if (!*ended) job = take_first(worker);
    worker->idle--;
    if (*ended) worker->executors--;
    pthread_mutex_unlock(&worker->life.lock);
    return job;
}

struct tpi_job *tpi_queue_try_pop(struct tp_worker *worker) {
    pthread_mutex_lock(&worker->life.lock);
    bool may = may_start(worker) && !tpi_lifetime_stopping(&worker->life);
    struct tpi_job *job = may ? take_first(worker) : NULL;
    pthread_mutex_unlock(&worker->life.lock);
    return job;
}

void tpi_queue_release(struct tp_worker *worker) {
    for (;;) {
        pthread_mutex_lock(&worker->life.lock);
        struct tpi_job *job = tpi_list_pop(&worker->queue);
        pthread_mutex_unlock(&worker->life.lock);
        if (!job) return;
        tpi_completer_submit(job, TP_RUN_LATER, NULL, 0, false);
    }
}
