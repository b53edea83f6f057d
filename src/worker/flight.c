/* No task is in the hands of one process twice: when its lease lapsed here, a worker of the same process may
 * claim it anew while the old handler still runs. All workers of the process share this table. The same id in
 * another pool is another task. */
#include "worker/flight.h"

#include <string.h>

#include "base/uuid.h"
#include "core/retry.h"
#include "core/shard.h"
#include "worker/worker.h"

enum { BUCKETS = 4096 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct tpi_item *buckets[BUCKETS]; /* under lock */

static struct tpi_item **bucket_of(const struct tpi_item *item) {
    return &buckets[tpi_shard_hash(item->task->id) % BUCKETS];
}

static bool same_task(const struct tpi_item *a, const struct tpi_item *b) {
    return a->worker->env == b->worker->env && strcmp(a->task->id, b->task->id) == 0;
}

/* Under the lock. NULL: none. */
static struct tpi_item *find_rival(const struct tpi_item *item) {
    struct tpi_item *rival = *bucket_of(item);
    while (rival && !same_task(rival, item))
        rival = rival->flight_next;
    return rival;
}

/* Under the rival's lock. What it has done is the new claim's to settle; it has no more to settle itself. */
static void take_done(struct tpi_item *rival, struct tpi_item *item) {
    item->done = true;
    atomic_store(&item->started, true);
    atomic_store(&rival->passed_on, true);
    atomic_store(&rival->lost, true);
}

/* Under the rival's lock. The call that runs goes on under the new claim. */
static void inherit(struct tpi_item *rival, struct tpi_item *item) {
    item->running = true;
    atomic_store(&item->started, true);
    rival->heir = item;
}

/* Nobody had it in between, and nobody took it away: the new claim met the lease that lapsed here. */
static bool lapsed_here(const struct tpi_item *rival, const struct tpi_item *item) {
    char owner[TPI_UUID_SIZE];
    const char *holder = tpi_reason_holder(item->task->reason);
    return holder && tpi_uuid_normal(holder, owner) && strcmp(owner, rival->task->owner) == 0;
}

/* A task of plan hold is called in its transaction, and by no other claim. */
static bool may_inherit(const struct tpi_item *rival, const struct tpi_item *item) {
    return rival->running && rival->worker == item->worker && rival->batch && item->batch &&
           lapsed_here(rival, item);
}

/* With the rival's lock taken. While its settle is under way its handler has ended: the settle is the one
 * that put the task back, before its answer was here, or it comes too late. When the handler ended well,
 * outside a transaction, it is not called again. */
static enum tpi_flight meet(struct tpi_item *rival, struct tpi_item *item) {
    if (rival->done) {
        take_done(rival, item);
        return TPI_FLIGHT_ENTERED;
    }
    if (rival->settling || rival->unheard) {
        atomic_store(&rival->passed_on, true);
        return TPI_FLIGHT_ENTERED;
    }
    if (may_inherit(rival, item)) {
        inherit(rival, item);
        return TPI_FLIGHT_HEIR;
    }
    tpi_item_ref(rival);
    return TPI_FLIGHT_RIVAL;
}

/* Under the lock. */
static void add(struct tpi_item *item) {
    struct tpi_item **bucket = bucket_of(item);
    item->flight_next = *bucket;
    *bucket = item;
}

enum tpi_flight tpi_flight_enter(struct tpi_item *item, struct tpi_item **rival) {
    enum tpi_flight entered = TPI_FLIGHT_ENTERED;
    pthread_mutex_lock(&lock);
    *rival = find_rival(item);
    if (*rival) {
        pthread_mutex_lock(&(*rival)->worker->lock);
        entered = meet(*rival, item);
        pthread_mutex_unlock(&(*rival)->worker->lock);
    }
    if (entered != TPI_FLIGHT_RIVAL) add(item);
    pthread_mutex_unlock(&lock);
    return entered;
}

void tpi_flight_leave(struct tpi_item *item) {
    struct tpi_item **at = bucket_of(item);
    pthread_mutex_lock(&lock);
    while (*at && *at != item)
        at = &(*at)->flight_next;
    if (*at) *at = item->flight_next;
    pthread_mutex_unlock(&lock);
}
