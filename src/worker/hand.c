/* The tasks in hand: the queue between claimer and runners, the list the keeper minds, and the references
 * that keep a claim's memory until its last task has ended. No database calls here. */
#include "worker/worker.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

struct tpi_hand *tpi_hand_new(size_t count) {
    struct tpi_hand *hand = calloc(1, sizeof *hand + count * sizeof hand->items[0]);
    if (!hand) return NULL;
    if (pthread_mutex_init(&hand->params_lock, NULL) != 0) {
        free(hand);
        return NULL;
    }
    return hand;
}

void tpi_hand_free(struct tpi_hand *hand) {
    if (!hand) return;
    tp_batch_free(hand->batch);
    pthread_mutex_destroy(&hand->params_lock);
    free(hand);
}

/* Under the lock. True: the caller frees it after unlocking. */
static bool drop_ref(struct tpi_hand *hand) {
    return --hand->refs == 0;
}

/* Under the lock. The first extension is due when a third of the lease is over. */
static void keep(struct tp_worker *worker, struct tpi_item *item, int64_t extend_at) {
    item->extend_at = extend_at;
    if (item->kept) return;
    item->kept = true;
    item->prev = NULL;
    item->next = worker->kept;
    if (item->next) item->next->prev = item;
    worker->kept = item;
    pthread_cond_signal(&worker->keep);
}

/* Under the lock. */
static void unkeep(struct tp_worker *worker, struct tpi_item *item) {
    if (!item->kept) return;
    item->kept = false;
    if (item->next) item->next->prev = item->prev;
    if (item->prev)
        item->prev->next = item->next;
    else
        worker->kept = item->next;
}

static const struct tpi_handler *find_handler(const struct tp_worker *worker, const char *name) {
    for (size_t i = 0; i < worker->handler_count; i++)
        if (strcmp(worker->handlers[i].name, name) == 0) return &worker->handlers[i];
    return NULL;
}

void tpi_hand_take(struct tp_worker *worker, struct tpi_hand *hand, tp_batch *batch, int64_t taken_ms) {
    hand->batch = batch;
    hand->count = tp_batch_count(batch);
    hand->refs = hand->count + 1;
    pthread_mutex_lock(&worker->lock);
    worker->in_hand += hand->count;
    for (size_t i = 0; i < hand->count; i++) {
        struct tpi_item *item = &hand->items[i];
        item->task = tp_batch_task(batch, i);
        item->hand = hand;
        item->handler = find_handler(worker, item->task->handler);
        keep(worker, item, taken_ms + worker->options.lease_ms / 3);
    }
    pthread_mutex_unlock(&worker->lock);
}

void tpi_hand_unref(struct tp_worker *worker, struct tpi_hand *hand) {
    pthread_mutex_lock(&worker->lock);
    bool last = drop_ref(hand);
    pthread_mutex_unlock(&worker->lock);
    if (last) tpi_hand_free(hand);
}

/* Under the lock. */
static void wake_for_end(struct tp_worker *worker) {
    pthread_cond_signal(&worker->room);
    pthread_cond_signal(&worker->keep);
    pthread_cond_broadcast(&worker->pause);
}

bool tpi_hand_all_ended(const struct tp_worker *worker) {
    return worker->claimer_ended && worker->in_hand == 0;
}

void tpi_hand_no_more(struct tp_worker *worker) {
    pthread_mutex_lock(&worker->lock);
    worker->claimer_ended = true;
    wake_for_end(worker);
    pthread_mutex_unlock(&worker->lock);
}

bool tpi_hand_wait_empty(struct tp_worker *worker, int64_t ms) {
    int64_t until = tpi_clock_mono_ms() + ms;
    pthread_mutex_lock(&worker->lock);
    while (worker->in_hand && !tpi_worker_stopping(worker) && tpi_clock_mono_ms() < until)
        tpi_worker_wait(worker, &worker->room, until);
    bool empty = worker->in_hand == 0 && !tpi_worker_stopping(worker);
    pthread_mutex_unlock(&worker->lock);
    return empty;
}

/* A claim for every single place that gets free would cost a round trip a task. */
static size_t low_water(const struct tp_worker *worker) {
    return worker->options.batch / 2;
}

size_t tpi_queue_room(struct tp_worker *worker) {
    pthread_mutex_lock(&worker->lock);
    while (worker->queue_count > low_water(worker) && !tpi_worker_stopping(worker))
        pthread_cond_wait(&worker->room, &worker->lock);
    size_t room = tpi_worker_stopping(worker) ? 0 : worker->options.batch - worker->queue_count;
    pthread_mutex_unlock(&worker->lock);
    return room;
}

void tpi_queue_push(struct tp_worker *worker, struct tpi_item *item) {
    pthread_mutex_lock(&worker->lock);
    worker->queue[(worker->queue_head + worker->queue_count) % worker->options.batch] = item;
    worker->queue_count++;
    pthread_cond_signal(&worker->work);
    pthread_mutex_unlock(&worker->lock);
}

/* Under the lock; the queue is not empty. */
static struct tpi_item *take_first(struct tp_worker *worker) {
    struct tpi_item *item = worker->queue[worker->queue_head];
    worker->queue_head = (worker->queue_head + 1) % worker->options.batch;
    worker->queue_count--;
    if (worker->queue_count == low_water(worker)) pthread_cond_signal(&worker->room);
    return item;
}

struct tpi_item *tpi_queue_pop(struct tp_worker *worker) {
    pthread_mutex_lock(&worker->lock);
    while (worker->queue_count == 0 && !tpi_worker_stopping(worker))
        pthread_cond_wait(&worker->work, &worker->lock);
    struct tpi_item *item = tpi_worker_stopping(worker) ? NULL : take_first(worker);
    pthread_mutex_unlock(&worker->lock);
    return item;
}

struct tpi_item *tpi_queue_left(struct tp_worker *worker) {
    pthread_mutex_lock(&worker->lock);
    struct tpi_item *item = worker->queue_count ? take_first(worker) : NULL;
    pthread_mutex_unlock(&worker->lock);
    return item;
}

bool tpi_item_settle(struct tp_worker *worker, struct tpi_item *item) {
    pthread_mutex_lock(&worker->lock);
    bool ours = !atomic_load(&item->lost);
    item->settling = true;
    unkeep(worker, item);
    pthread_mutex_unlock(&worker->lock);
    return ours;
}

void tpi_item_resume(struct tp_worker *worker, struct tpi_item *item) {
    pthread_mutex_lock(&worker->lock);
    item->settling = false;
    /* At once: how much of the lease the settle used up is not known. */
    keep(worker, item, tpi_clock_mono_ms());
    pthread_mutex_unlock(&worker->lock);
}

void tpi_item_end(struct tp_worker *worker, struct tpi_item *item) {
    struct tpi_hand *hand = item->hand;
    pthread_mutex_lock(&worker->lock);
    item->settling = true; /* whatever the keeper hears about it now is of no interest */
    unkeep(worker, item);
    if (--worker->in_hand == 0) wake_for_end(worker);
    bool last = drop_ref(hand);
    pthread_mutex_unlock(&worker->lock);
    if (last) tpi_hand_free(hand);
}

/* Under the lock. The list is as long as the queue and the threads, so a walk is cheap beside a round trip.
 */
static struct tpi_item *next_to_extend(const struct tp_worker *worker) {
    struct tpi_item *first = worker->kept;
    for (struct tpi_item *item = first; item; item = item->next)
        if (item->extend_at < first->extend_at) first = item;
    return first;
}

struct tpi_item *tpi_keep_next(struct tp_worker *worker) {
    struct tpi_item *item = NULL;
    pthread_mutex_lock(&worker->lock);
    while (!tpi_hand_all_ended(worker)) {
        item = next_to_extend(worker);
        if (item && item->extend_at <= tpi_clock_mono_ms()) break;
        if (item)
            tpi_worker_wait(worker, &worker->keep, item->extend_at);
        else
            pthread_cond_wait(&worker->keep, &worker->lock);
        item = NULL;
    }
    if (item) {
        unkeep(worker, item);
        item->hand->refs++;
    }
    pthread_mutex_unlock(&worker->lock);
    return item;
}

void tpi_keep_again(struct tp_worker *worker, struct tpi_item *item, int64_t extend_at) {
    pthread_mutex_lock(&worker->lock);
    if (!item->settling) keep(worker, item, extend_at);
    pthread_mutex_unlock(&worker->lock);
    tpi_hand_unref(worker, item->hand);
}

bool tpi_keep_lost(struct tp_worker *worker, struct tpi_item *item) {
    pthread_mutex_lock(&worker->lock);
    bool news = !item->settling;
    if (news) {
        unkeep(worker, item);
        atomic_store(&item->lost, true);
    }
    pthread_mutex_unlock(&worker->lock);
    return news;
}
