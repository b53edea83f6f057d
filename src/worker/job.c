/* A task in progress, from its claim to its end: its memory, its lease's place in the lease renewer's list,
 * and whether the claim is still ours. No database calls here. Read next: queue.c, completer.c. */
#include "worker/worker.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "worker/in_flight.h"

/* ---- Lists ------------------------------------------------------------------------------------------- */

void tpi_list_push(struct tpi_list *list, struct tpi_job *job) {
    job->next = NULL;
    if (list->last)
        list->last->next = job;
    else
        list->first = job;
    list->last = job;
    list->count++;
}

struct tpi_job *tpi_list_pop(struct tpi_list *list) {
    struct tpi_job *job = list->first;
    if (!job) return NULL;
    list->first = job->next;
    if (!list->first) list->last = NULL;
    list->count--;
    return job;
}

/* ---- The lease renewer's list, under the lock -------------------------------------------------------- */

static void enlist(struct tpi_job *job, int64_t extend_at) {
    struct tp_worker *worker = job->worker;
    job->extend_at = extend_at;
    if (job->leased) return;
    job->leased = true;
    job->lease_prev = NULL;
    job->lease_next = worker->leased;
    if (job->lease_next) job->lease_next->lease_prev = job;
    worker->leased = job;
    /* One that is due later than the lease renewer looks anyway need not wake it. */
    if (extend_at < worker->renew_at) tpi_signal_one(&worker->renew);
}

static void delist(struct tpi_job *job) {
    if (!job->leased) return;
    job->leased = false;
    if (job->lease_next) job->lease_next->lease_prev = job->lease_prev;
    if (job->lease_prev)
        job->lease_prev->lease_next = job->lease_next;
    else
        job->worker->leased = job->lease_next;
}

/* Under the lock. The next extension is due when a third of the lease is over. */
static void extended(struct tpi_job *job, int64_t asked_ms) {
    int64_t lease_ms = job->worker->options.lease_ms;
    job->leased_until = tpi_clock_boot_ms() - (tpi_clock_mono_ms() - asked_ms) + lease_ms;
    enlist(job, asked_ms + lease_ms / 3);
}

/* ---- Beginning and end ------------------------------------------------------------------------------- */

static const struct tpi_handler *find_handler(const struct tp_worker *worker, const char *name) {
    for (size_t i = 0; i < worker->handler_count; i++)
        if (strcmp(worker->handlers[i].name, name) == 0) return &worker->handlers[i];
    return NULL;
}

static tp_status make(struct tp_worker *worker, const tp_batch *batch, size_t i, struct tpi_job **out) {
    struct tpi_job *job = calloc(1, sizeof *job);
    if (!job) return tpi_error(TP_NOMEM, "out of memory");
    tp_status status = tp_batch_take(batch, i, &job->batch);
    if (status != TP_OK) {
        free(job);
        return status;
    }
    job->worker = worker;
    job->task = tp_batch_task(job->batch, 0);
    job->handler = find_handler(worker, job->task->handler);
    job->refs = 1;
    *out = job;
    return TP_OK;
}

static void free_job(struct tpi_job *job) {
    tp_batch_free(job->batch);
    free(job->outcome.reason);
    free(job);
}

tp_status tpi_job_new(struct tp_worker *worker, const tp_batch *batch, size_t i, int64_t taken_ms,
                      struct tpi_job **out) {
    struct tpi_job *job = NULL;
    tp_status status = make(worker, batch, i, &job);
    if (status != TP_OK || !job) return status;
    pthread_mutex_lock(&worker->life.lock);
    tpi_lifetime_add_job(&worker->life);
    extended(job, taken_ms);
    pthread_mutex_unlock(&worker->life.lock);
    struct tpi_job *rival = NULL;
    enum tpi_in_flight entered = tpi_in_flight_enter(job, &rival);
    *out = entered == TPI_IN_FLIGHT_SUCCESSOR ? NULL : job;
    if (entered != TPI_IN_FLIGHT_RIVAL) return TP_OK;
    tpi_job_end(job);
    tpi_job_lose(rival, "its lease or its lock was lost, and this process claimed it again");
    tpi_job_unref(rival);
    return TP_EXISTS;
}

tp_status tpi_job_hold(struct tp_worker *worker, const tp_batch *batch, size_t i, struct tpi_job **out) {
    struct tpi_job *job = calloc(1, sizeof *job);
    if (!job) return tpi_error(TP_NOMEM, "out of memory");
    job->worker = worker;
    job->task = tp_batch_task(batch, i);
    job->hold_at = i;
    job->handler = find_handler(worker, job->task->handler);
    job->refs = 1;
    pthread_mutex_lock(&worker->life.lock);
    tpi_lifetime_add_job(&worker->life);
    pthread_mutex_unlock(&worker->life.lock);
    struct tpi_job *rival = NULL;
    *out = job;
    if (tpi_in_flight_enter(job, &rival) != TPI_IN_FLIGHT_RIVAL) return TP_OK;
    tpi_job_end(job);
    tpi_job_unref(rival);
    return TP_EXISTS;
}

void tpi_job_ref(struct tpi_job *job) {
    job->refs++;
}

void tpi_job_unref(struct tpi_job *job) {
    struct tp_worker *worker = job->worker;
    pthread_mutex_lock(&worker->life.lock);
    bool last = --job->refs == 0;
    if (last) tpi_lifetime_remove_job(&worker->life);
    pthread_mutex_unlock(&worker->life.lock);
    if (last) free_job(job);
}

void tpi_job_end(struct tpi_job *job) {
    tpi_in_flight_leave(job);
    pthread_mutex_lock(&job->worker->life.lock);
    job->ended = true;
    delist(job);
    pthread_mutex_unlock(&job->worker->life.lock);
    tpi_job_unref(job);
}

/* ---- Whose claim it is ------------------------------------------------------------------------------- */

bool tpi_job_start(struct tpi_job *job) {
    pthread_mutex_lock(&job->worker->life.lock);
    bool leased = tpi_clock_boot_ms() < job->leased_until;
    pthread_mutex_unlock(&job->worker->life.lock);
    if (leased) atomic_store(&job->started, true);
    return leased;
}

void tpi_job_run(struct tpi_job *job) {
    pthread_mutex_lock(&job->worker->life.lock);
    job->running = true;
    pthread_mutex_unlock(&job->worker->life.lock);
}

struct tpi_job *tpi_job_ran(struct tpi_job *job, bool done) {
    for (;;) {
        pthread_mutex_lock(&job->worker->life.lock);
        struct tpi_job *successor = job->successor;
        job->running = false;
        job->done = done && !successor;
        pthread_mutex_unlock(&job->worker->life.lock);
        if (!successor) return job;
        tpi_job_end(job);
        job = successor;
    }
}

const struct tpi_job *tpi_job_newest(const struct tpi_job *job) {
    struct tp_worker *worker = job->worker; /* of all of them */
    pthread_mutex_lock(&worker->life.lock);
    while (job->successor)
        job = job->successor;
    pthread_mutex_unlock(&worker->life.lock);
    return job;
}

/* What is done is settled even if its claim seems lost: the row says whose it is. */
bool tpi_job_settle(struct tpi_job *job) {
    pthread_mutex_lock(&job->worker->life.lock);
    bool ours = job->done ? !atomic_load(&job->passed_on) : !atomic_load(&job->lost);
    job->settling = true;
    delist(job);
    pthread_mutex_unlock(&job->worker->life.lock);
    return ours;
}

void tpi_job_resume(struct tpi_job *job, bool unheard) {
    pthread_mutex_lock(&job->worker->life.lock);
    job->unheard = job->unheard || unheard;
    /* At once: how much of the lease the settle used up is not known. */
    if (job->settling) enlist(job, tpi_clock_mono_ms());
    job->settling = false;
    bool gone = atomic_load(&job->passed_on);
    pthread_mutex_unlock(&job->worker->life.lock);
    if (gone) tpi_job_lose(job, "its lease had lapsed, and this process claimed it again");
}

void tpi_job_lose(struct tpi_job *job, const char *text) {
    pthread_mutex_lock(&job->worker->life.lock);
    bool settles = job->settling || job->unheard || job->ended || job->done || job->successor;
    bool news = !settles && !atomic_exchange(&job->lost, true);
    if (news) delist(job);
    pthread_mutex_unlock(&job->worker->life.lock);
    if (!news) return;
    tpi_record_lost(job, text);
}

/* ---- The lease renewer's looks ----------------------------------------------------------------------- */

/* Under the lock. The list is as long as the queue and the threads, so a walk is cheap beside a round trip.
 */
static int64_t next_extension(const struct tp_worker *worker) {
    int64_t first = INT64_MAX;
    for (const struct tpi_job *job = worker->leased; job; job = job->lease_next)
        if (job->extend_at < first) first = job->extend_at;
    return first;
}

/* Under the lock. Those that are due soon come along. */
static size_t take_due(struct tp_worker *worker, int64_t until, struct tpi_job **jobs) {
    size_t count = 0;
    for (struct tpi_job *job = worker->leased, *next; job && count < TPI_EXTEND_MAX; job = next) {
        next = job->lease_next;
        if (job->extend_at > until) continue;
        delist(job);
        tpi_job_ref(job);
        jobs[count++] = job;
    }
    return count;
}

size_t tpi_lease_next(struct tp_worker *worker, struct tpi_job **jobs) {
    size_t count = 0;
    pthread_mutex_lock(&worker->life.lock);
    while (count == 0 && !worker->life.abandoned && !tpi_lifetime_over(&worker->life)) {
        int64_t first = next_extension(worker);
        int64_t now = tpi_clock_mono_ms();
        worker->renew_at = first;
        if (first <= now)
            count = take_due(worker, now + worker->options.lease_ms / 12, jobs);
        else
            tpi_signal_wait(&worker->life, &worker->renew, first);
    }
    pthread_mutex_unlock(&worker->life.lock);
    return count;
}

void tpi_lease_again(struct tpi_job *job, int64_t extend_at) {
    pthread_mutex_lock(&job->worker->life.lock);
    if (!job->settling && !job->ended && !atomic_load(&job->lost)) enlist(job, extend_at);
    pthread_mutex_unlock(&job->worker->life.lock);
}

void tpi_lease_extended(struct tpi_job *job, int64_t asked_ms) {
    pthread_mutex_lock(&job->worker->life.lock);
    if (!job->settling && !job->ended && !atomic_load(&job->lost)) extended(job, asked_ms);
    pthread_mutex_unlock(&job->worker->life.lock);
}
