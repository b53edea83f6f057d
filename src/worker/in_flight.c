/* Prevents that one task is run twice at a time in this process: when its lease has lapsed, a worker of the
 * same process may claim it again while the old handler still runs. All workers of the process share this
 * table. The same id in another pool is another task. */
#include "worker/in_flight.h"

#include <string.h>

#include "base/uuid.h"
#include "core/retry.h"
#include "core/shard.h"
#include "worker/job.h"

enum { BUCKETS = 4096 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct tpi_job *buckets[BUCKETS]; /* under lock */

/* In the child of a fork: the threads that have the tasks are the parent's. */
static void forget_all(void) {
    (void)pthread_mutex_init(&lock, NULL);
    memset(buckets, 0, sizeof buckets);
}

__attribute__((constructor)) static void watch_forks(void) {
    (void)pthread_atfork(NULL, NULL, forget_all);
}

static struct tpi_job **bucket_of(const char *id) {
    return &buckets[tpi_shard_hash(id) % BUCKETS];
}

/* Under the lock. NULL: it is not in progress here. */
static struct tpi_job *find(const tp_env *env, const char *id) {
    struct tpi_job *job = *bucket_of(id);
    while (job && (job->jobs->env != env || strcmp(job->task->id, id) != 0))
        job = job->in_flight_next;
    return job;
}

/* With the lock of its jobs taken. While its handler is called nobody else may read long params. A job that
 * was passed on is not called done: the claim that follows it decides. */
static enum tpi_known known_of(const struct tpi_job *job, const tp_task *task) {
    if (job->done && !atomic_load(&job->passed_on)) {
        enum tpi_content content = tpi_content_compare(job->task, task);
        return content == TPI_CONTENT_SAME     ? TPI_KNOWN_DONE
               : content == TPI_CONTENT_UNREAD ? TPI_KNOWN_RUNS
                                               : TPI_KNOWN_NOTHING;
    }
    bool runs = job->running && !job->settling && !job->unheard && !atomic_load(&job->lost);
    return runs ? TPI_KNOWN_RUNS : TPI_KNOWN_NOTHING;
}

/* Nobody had it in between, and nobody took it away: the new claim met the lease that lapsed here. One whose
 * lease is not renewed any more has run for too long. A task of plan hold is called in its transaction, and
 * by no other claim. */
static bool may_succeed(const struct tpi_job *rival, const struct tpi_job *job) {
    char owner[TPI_UUID_SIZE];
    if (!rival->running || rival->unrenewed || rival->jobs != job->jobs || !rival->batch || !job->batch)
        return false;
    if (job->task->params && tpi_content_compare(rival->task, job->task) != TPI_CONTENT_SAME) return false;
    const char *holder = tpi_reason_holder(job->task->reason);
    return holder && tpi_uuid_normal(holder, owner) && strcmp(owner, rival->task->owner) == 0;
}

/* With the lock of the rival's jobs taken. While its settle is under way its handler has ended: the settle is
 * the one that put the task back, before its answer was here, or it comes too late. When the handler ended
 * well, outside a transaction, it is not called again for the same content; for other content it is. */
static enum tpi_in_flight meet(struct tpi_job *rival, struct tpi_job *job, bool *done) {
    enum tpi_known known = known_of(rival, job->task);
    if (known == TPI_KNOWN_DONE) {
        *done = true; /* for the new claim to settle; this one has no more to settle */
        job->result = tpi_result_ref(rival->result);
        atomic_store(&job->started, true);
        atomic_store(&rival->passed_on, true);
        atomic_store(&rival->lost, true);
        return TPI_IN_FLIGHT_ENTERED;
    }
    bool ended = rival->done ? known == TPI_KNOWN_NOTHING : rival->settling || rival->unheard;
    if (ended) {
        atomic_store(&rival->passed_on, true);
        return TPI_IN_FLIGHT_ENTERED;
    }
    if (may_succeed(rival, job)) {
        job->running = true; /* the call goes on under the new claim */
        atomic_store(&job->started, true);
        rival->successor = job;
        return TPI_IN_FLIGHT_SUCCESSOR;
    }
    rival->refs++;
    return TPI_IN_FLIGHT_RIVAL;
}

enum tpi_in_flight tpi_in_flight_enter(struct tpi_job *job, struct tpi_job **rival) {
    enum tpi_in_flight entered = TPI_IN_FLIGHT_ENTERED;
    bool done = false;
    pthread_mutex_lock(&lock);
    *rival = find(job->jobs->env, job->task->id);
    if (*rival) {
        pthread_mutex_lock(&(*rival)->jobs->lock);
        entered = meet(*rival, job, &done);
        pthread_mutex_unlock(&(*rival)->jobs->lock);
    }
    /* Its own worker, which may be another, sees it already: its lease is listed. */
    if (done) {
        pthread_mutex_lock(&job->jobs->lock);
        job->done = true;
        pthread_mutex_unlock(&job->jobs->lock);
    }
    if (entered != TPI_IN_FLIGHT_RIVAL) {
        struct tpi_job **first = bucket_of(job->task->id);
        job->in_flight_next = *first;
        *first = job;
    }
    pthread_mutex_unlock(&lock);
    return entered;
}

enum tpi_known tpi_in_flight_known(const tp_env *env, const tp_task *task) {
    enum tpi_known known = TPI_KNOWN_NOTHING;
    pthread_mutex_lock(&lock);
    struct tpi_job *job = find(env, task->id);
    if (job) {
        pthread_mutex_lock(&job->jobs->lock);
        known = known_of(job, task);
        pthread_mutex_unlock(&job->jobs->lock);
    }
    pthread_mutex_unlock(&lock);
    return known;
}

void tpi_in_flight_leave(struct tpi_job *job) {
    struct tpi_job **at = bucket_of(job->task->id);
    pthread_mutex_lock(&lock);
    while (*at && *at != job)
        at = &(*at)->in_flight_next;
    if (*at) *at = job->in_flight_next;
    pthread_mutex_unlock(&lock);
}
