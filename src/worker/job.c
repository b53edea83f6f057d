/* A task in progress, from its claim to its end: its memory, its lease's place in the lease renewer's list,
 * and whether the claim is still ours. No database calls here. Read next: queue.c, completer.c. */
#include "worker/job.h"
#include "ops/for_workers.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/utf8.h"
#include "worker/in_flight.h"
#include "worker/record.h"

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
    struct tpi_jobs *jobs = job->jobs;
    struct tpi_lease *lease = &job->lease;
    lease->extend_at = extend_at;
    if (lease->listed) return;
    lease->listed = true;
    lease->prev = NULL;
    lease->next = jobs->leased;
    if (lease->next) lease->next->lease.prev = job;
    jobs->leased = job;
    /* One that is due later than the lease renewer wakes anyway need not wake it. */
    if (extend_at < jobs->renew_at) tpi_signal_one(&jobs->leases);
}

static void delist(struct tpi_job *job) {
    struct tpi_lease *lease = &job->lease;
    if (!lease->listed) return;
    lease->listed = false;
    if (lease->next) lease->next->lease.prev = lease->prev;
    if (lease->prev)
        lease->prev->lease.next = lease->next;
    else
        job->jobs->leased = lease->next;
}

/* Where the monotonic clock would have stood then, had the machine not slept since. */
static int64_t mono_of(int64_t boot_ms) {
    return tpi_clock_mono_ms() - (tpi_clock_boot_ms() - boot_ms);
}

int64_t tpi_lease_parts = 3;

/* Under the lock. The next extension is due when a part of the lease is over. */
static void extended(struct tpi_job *job, int64_t asked_ms) {
    int64_t lease_ms = job->jobs->options->lease_ms;
    job->lease.until = asked_ms + lease_ms;
    enlist(job, mono_of(asked_ms) + lease_ms / tpi_lease_parts);
}

/* ---- Beginning and end ------------------------------------------------------------------------------- */

/* task: the job's, by this claim or the next, for the event. */
static void lose(struct tpi_job *job, const tp_task *task, const char *text) {
    pthread_mutex_lock(&job->jobs->lock);
    bool settles = job->settling || job->unheard || job->ended || job->done || job->successor;
    bool news = !settles && !atomic_exchange(&job->lost, true);
    if (news) delist(job);
    pthread_mutex_unlock(&job->jobs->lock);
    if (news) tpi_record_lost(job->jobs->record, job, task, text);
}

/* NULL: no memory. own: of this task alone, or NULL. */
static struct tpi_job *make(struct tpi_jobs *jobs, tp_batch *own, const tp_task *task, int64_t taken_ms) {
    const char *who, *why;
    struct tpi_job *job = calloc(1, sizeof *job);
    if (!job) return NULL;
    job->jobs = jobs;
    job->batch = own;
    job->task = task;
    job->handler = tpi_handler_find(jobs->handlers, task->handler);
    job->refs = 1;
    job->claimed_ms = mono_of(taken_ms);
    job->waited_ms = tpi_task_waited_ms(task);
    tpi_lifetime_add_job(jobs->life);
    pthread_mutex_lock(&jobs->lock);
    job->number = ++jobs->last_number;
    job->older = jobs->newest;
    *(job->older ? &job->older->newer : &jobs->oldest) = job;
    jobs->newest = job;
    pthread_mutex_unlock(&jobs->lock);
    if (tpi_task_unwanted(task, &who, &why)) tpi_job_notify_stop(job, who, why);
    return job;
}

tp_status tpi_job_new(struct tpi_jobs *jobs, const tp_batch *batch, size_t i, int64_t taken_ms,
                      struct tpi_job **out) {
    tp_batch *own = NULL;
    tp_status status = tpi_batch_take(batch, i, &own);
    if (status != TP_OK) return status;
    struct tpi_job *job = make(jobs, own, tp_batch_task(own, 0), taken_ms);
    if (!job) {
        tp_batch_free(own);
        return tpi_error(TP_NOMEM, "out of memory");
    }
    pthread_mutex_lock(&jobs->lock);
    extended(job, taken_ms);
    pthread_mutex_unlock(&jobs->lock);
    struct tpi_job *rival = NULL;
    enum tpi_in_flight entered = tpi_in_flight_enter(job, &rival);
    *out = entered == TPI_IN_FLIGHT_SUCCESSOR ? NULL : job;
    if (entered != TPI_IN_FLIGHT_RIVAL) return TP_OK;
    /* A rival of plan hold may end meanwhile, and its task with it. */
    lose(rival, job->task, "its lease or its lock was lost, and this process claimed it again");
    tpi_job_end(job);
    tpi_job_unref(rival);
    return TP_EXISTS;
}

tp_status tpi_job_hold(struct tpi_jobs *jobs, const tp_batch *batch, size_t i, struct tpi_job **out) {
    struct tpi_job *job = make(jobs, NULL, tp_batch_task(batch, i), tpi_clock_boot_ms());
    if (!job) return tpi_error(TP_NOMEM, "out of memory");
    job->hold_at = i;
    struct tpi_job *rival = NULL;
    *out = job;
    if (tpi_in_flight_enter(job, &rival) != TPI_IN_FLIGHT_RIVAL) return TP_OK;
    tpi_job_end(job);
    tpi_job_unref(rival);
    return TP_EXISTS;
}

void tpi_job_unref(struct tpi_job *job) {
    struct tpi_jobs *jobs = job->jobs;
    pthread_mutex_lock(&jobs->lock);
    bool last = --job->refs == 0;
    pthread_mutex_unlock(&jobs->lock);
    if (!last) return;
    tp_batch_free(job->batch);
    free(job->settle.outcome.reason);
    tpi_result_unref(job->result);
    free((void *)(uintptr_t)atomic_load(&job->stop_notice));
    free(job);
    tpi_lifetime_remove_job(jobs->life);
}

void tpi_job_end(struct tpi_job *job) {
    tpi_in_flight_leave(job);
    pthread_mutex_lock(&job->jobs->lock);
    job->ended = true;
    delist(job);
    *(job->older ? &job->older->newer : &job->jobs->oldest) = job->newer;
    *(job->newer ? &job->newer->older : &job->jobs->newest) = job->older;
    pthread_mutex_unlock(&job->jobs->lock);
    tpi_job_unref(job);
}

/* ---- Whose claim it is ------------------------------------------------------------------------------- */

bool tpi_job_start(struct tpi_job *job) {
    pthread_mutex_lock(&job->jobs->lock);
    bool leased = tpi_clock_boot_ms() < job->lease.until && !atomic_load(&job->lost);
    job->running = leased;
    pthread_mutex_unlock(&job->jobs->lock);
    if (leased) atomic_store(&job->started, true);
    return leased;
}

void tpi_job_run(struct tpi_job *job) {
    pthread_mutex_lock(&job->jobs->lock);
    job->running = true;
    pthread_mutex_unlock(&job->jobs->lock);
}

struct tpi_job *tpi_job_ran(struct tpi_job *job, bool done, struct tpi_result *result) {
    for (;;) {
        pthread_mutex_lock(&job->jobs->lock);
        struct tpi_job *successor = job->successor;
        struct tpi_result *before = job->result;
        job->running = false;
        job->done = done && !successor;
        if (!successor) job->result = result;
        pthread_mutex_unlock(&job->jobs->lock);
        if (!successor) {
            tpi_result_unref(before);
            return job;
        }
        tpi_job_end(job);
        job = successor;
    }
}

const struct tpi_job *tpi_job_newest(const struct tpi_job *job) {
    struct tpi_jobs *jobs = job->jobs; /* of all of them */
    pthread_mutex_lock(&jobs->lock);
    while (job->successor)
        job = job->successor;
    pthread_mutex_unlock(&jobs->lock);
    return job;
}

void tpi_job_mark_done(struct tpi_job *job) {
    pthread_mutex_lock(&job->jobs->lock);
    job->done = true;
    pthread_mutex_unlock(&job->jobs->lock);
}

/* What is done is settled even if its claim seems lost: the row says whose it is. */
bool tpi_job_settle(struct tpi_job *job) {
    pthread_mutex_lock(&job->jobs->lock);
    bool ours = job->done ? !atomic_load(&job->passed_on) : !atomic_load(&job->lost);
    job->settling = true;
    job->unrenewed = false;
    delist(job);
    pthread_mutex_unlock(&job->jobs->lock);
    return ours;
}

void tpi_job_resume(struct tpi_job *job, bool unheard) {
    pthread_mutex_lock(&job->jobs->lock);
    job->unheard = job->unheard || unheard;
    /* At once: how much of the lease the settle used up is not known. */
    if (job->settling) enlist(job, tpi_clock_mono_ms());
    job->settling = false;
    bool gone = atomic_load(&job->passed_on);
    pthread_mutex_unlock(&job->jobs->lock);
    if (gone) tpi_job_lose(job, "its lease had lapsed, and this process claimed it again");
}

void tpi_job_lose(struct tpi_job *job, const char *text) {
    lose(job, job->task, text);
}

/* ---- Tasks that are not wanted any more ------------------------------------------------------------------
 */

size_t tpi_jobs_older(struct tpi_jobs *jobs, int64_t before, uint64_t *after, struct tpi_job **all,
                      char (*ids)[TP_ID_SIZE], size_t most) {
    size_t count = 0;
    pthread_mutex_lock(&jobs->lock);
    for (struct tpi_job *job = jobs->oldest; job && count < most; job = job->newer) {
        bool seen = job->number <= *after || job->claimed_ms > before;
        if (seen || job->settling || atomic_load(&job->stop_notice)) continue;
        *after = job->number;
        job->refs++;
        tpi_utf8_copy(job->task->id, ids[count], sizeof ids[count]);
        all[count++] = job;
    }
    pthread_mutex_unlock(&jobs->lock);
    return count;
}

size_t tpi_jobs_oldest(struct tpi_jobs *jobs, struct tpi_job **all, size_t most) {
    size_t count = 0;
    pthread_mutex_lock(&jobs->lock);
    for (struct tpi_job *job = jobs->oldest; job && count < most; job = job->newer) {
        job->refs++;
        all[count++] = job;
    }
    pthread_mutex_unlock(&jobs->lock);
    return count;
}

/* Without memory it is told a second later. */
void tpi_job_notify_stop(struct tpi_job *job, const char *who, const char *why) {
    struct tpi_stop_notice *notice = calloc(1, sizeof *notice);
    if (!notice) return;
    notice->cause = *who ? TP_STOP_CANCELLED : TP_STOP_DEADLINE;
    tpi_utf8_copy(who, notice->who, sizeof notice->who);
    tpi_utf8_copy(why, notice->why, sizeof notice->why);
    tpi_cancel_reason(notice->who, notice->why, notice->reason);
    pthread_mutex_lock(&job->jobs->lock);
    bool known = atomic_load(&job->stop_notice);
    if (!known) atomic_store(&job->stop_notice, notice);
    pthread_mutex_unlock(&job->jobs->lock);
    if (known) free(notice);
}

/* ---- Calls that last too long ------------------------------------------------------------------------ */

/* One that is made again has its lease extended again. */
void tpi_job_called(struct tpi_job *job, int64_t began_ms) {
    atomic_store(&job->overtime, false);
    atomic_store(&job->began_ms, began_ms);
    pthread_mutex_lock(&job->jobs->lock);
    if (job->unrenewed && began_ms && !atomic_load(&job->lost)) enlist(job, began_ms);
    if (began_ms) job->unrenewed = false;
    pthread_mutex_unlock(&job->jobs->lock);
}

bool tpi_job_stop_renewal(struct tpi_job *job) {
    bool news = false;
    pthread_mutex_lock(&job->jobs->lock);
    for (struct tpi_job *one = job; one && job->running; one = one->successor) {
        news = news || !one->unrenewed;
        one->unrenewed = true;
        delist(one);
    }
    pthread_mutex_unlock(&job->jobs->lock);
    return news;
}

/* ---- Leases that are due -------------------------------------------------------------------------- */

/* Under the lock. The list is as long as the queue and the threads, so a walk is cheap beside a round trip.
 */
static int64_t next_extension(const struct tpi_jobs *jobs) {
    int64_t first = INT64_MAX;
    for (const struct tpi_job *job = jobs->leased; job; job = job->lease.next)
        if (job->lease.extend_at < first) first = job->lease.extend_at;
    return first;
}

/* Under the lock. Those that are due soon come along. */
static size_t take_due(struct tpi_jobs *jobs, int64_t until, struct tpi_job **due) {
    size_t count = 0;
    for (struct tpi_job *job = jobs->leased, *next; job && count < TPI_EXTEND_MAX; job = next) {
        next = job->lease.next;
        if (job->lease.extend_at > until) continue;
        delist(job);
        job->refs++;
        due[count++] = job;
    }
    return count;
}

size_t tpi_lease_next(struct tpi_jobs *jobs, struct tpi_job **due) {
    size_t count = 0;
    pthread_mutex_lock(&jobs->lock);
    while (count == 0 && !atomic_load(&jobs->life->abandoned) && !tpi_lifetime_over(jobs->life)) {
        int64_t first = next_extension(jobs);
        int64_t now = tpi_clock_mono_ms();
        jobs->renew_at = first;
        if (first <= now)
            count = take_due(jobs, now + jobs->options->lease_ms / 12, due);
        else
            tpi_signal_wait(&jobs->leases, first);
    }
    pthread_mutex_unlock(&jobs->lock);
    return count;
}

/* Under the lock. */
static bool is_extended(const struct tpi_job *job) {
    return !job->settling && !job->ended && !job->unrenewed && !atomic_load(&job->lost);
}

void tpi_lease_again(struct tpi_job *job, int64_t extend_at) {
    pthread_mutex_lock(&job->jobs->lock);
    if (is_extended(job)) enlist(job, extend_at);
    pthread_mutex_unlock(&job->jobs->lock);
}

void tpi_lease_extended(struct tpi_job *job, int64_t asked_ms) {
    pthread_mutex_lock(&job->jobs->lock);
    if (is_extended(job)) extended(job, asked_ms);
    pthread_mutex_unlock(&job->jobs->lock);
}
