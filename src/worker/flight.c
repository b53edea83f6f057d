/* No task is in the hands of one process twice: when its lease lapsed here, a worker of the same process may
 * claim it anew while the old handler still runs. All workers of the process share this table. The same id in
 * another pool is another task. */
#include "worker/flight.h"

#include <string.h>

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
static bool take_over(struct tpi_item *rival, struct tpi_item *item) {
    if (!rival->done) return false;
    item->done = true;
    atomic_store(&item->started, true);
    atomic_store(&rival->lost, true);
    return true;
}

/* Its handler has ended, and a settle is under way: the one that put the task back, before its answer was
 * here, or one that comes too late. When it ended well, outside a transaction, it is not called again. */
static bool steps_aside(struct tpi_item *rival, struct tpi_item *item) {
    pthread_mutex_lock(&rival->worker->lock);
    bool aside = rival->settling || rival->unheard;
    if (take_over(rival, item))
        aside = true;
    else if (aside)
        rival->passed_on = true;
    else
        tpi_item_ref(rival);
    pthread_mutex_unlock(&rival->worker->lock);
    return aside;
}

/* Under the lock. */
static void add(struct tpi_item *item) {
    struct tpi_item **bucket = bucket_of(item);
    item->flight_next = *bucket;
    *bucket = item;
}

struct tpi_item *tpi_flight_enter(struct tpi_item *item) {
    pthread_mutex_lock(&lock);
    struct tpi_item *rival = find_rival(item);
    if (rival && steps_aside(rival, item)) rival = NULL;
    if (!rival) add(item);
    pthread_mutex_unlock(&lock);
    return rival;
}

void tpi_flight_add(struct tpi_item *item) {
    pthread_mutex_lock(&lock);
    add(item);
    pthread_mutex_unlock(&lock);
}

bool tpi_flight_done(struct tpi_item *item) {
    pthread_mutex_lock(&lock);
    struct tpi_item *rival = find_rival(item);
    if (rival) {
        pthread_mutex_lock(&rival->worker->lock);
        (void)take_over(rival, item);
        pthread_mutex_unlock(&rival->worker->lock);
    }
    pthread_mutex_unlock(&lock);
    return item->done;
}

void tpi_flight_leave(struct tpi_item *item) {
    struct tpi_item **at = bucket_of(item);
    pthread_mutex_lock(&lock);
    while (*at && *at != item)
        at = &(*at)->flight_next;
    if (*at) *at = item->flight_next;
    pthread_mutex_unlock(&lock);
}
