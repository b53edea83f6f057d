/* A task in hand, from its claim to its end: its memory, its lease's place in the keeper's list, and whether
 * the claim is still ours. No database calls here. Read next: queue.c, settler.c. */
#include "worker/worker.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "worker/flight.h"

/* ---- Lists -------------------------------------------------------------------------------------------- */

void tpi_list_push(struct tpi_list *list, struct tpi_item *item) {
    item->next = NULL;
    if (list->last)
        list->last->next = item;
    else
        list->first = item;
    list->last = item;
    list->count++;
}

struct tpi_item *tpi_list_pop(struct tpi_list *list) {
    struct tpi_item *item = list->first;
    if (!item) return NULL;
    list->first = item->next;
    if (!list->first) list->last = NULL;
    list->count--;
    return item;
}

/* ---- The keeper's list, under the lock ---------------------------------------------------------------- */

static void keep(struct tpi_item *item, int64_t extend_at) {
    struct tp_worker *worker = item->worker;
    item->extend_at = extend_at;
    if (item->kept) return;
    item->kept = true;
    item->keep_prev = NULL;
    item->keep_next = worker->kept;
    if (item->keep_next) item->keep_next->keep_prev = item;
    worker->kept = item;
    /* One that is due later than the keeper looks anyway need not wake it. */
    if (extend_at < worker->keep_until) pthread_cond_signal(&worker->keep);
}

static void unkeep(struct tpi_item *item) {
    if (!item->kept) return;
    item->kept = false;
    if (item->keep_next) item->keep_next->keep_prev = item->keep_prev;
    if (item->keep_prev)
        item->keep_prev->keep_next = item->keep_next;
    else
        item->worker->kept = item->keep_next;
}

/* Under the lock. The next extension is due when a third of the lease is over. */
static void extended(struct tpi_item *item, int64_t asked_ms) {
    int64_t lease_ms = item->worker->options.lease_ms;
    item->leased_until = tpi_clock_boot_ms() - (tpi_clock_mono_ms() - asked_ms) + lease_ms;
    keep(item, asked_ms + lease_ms / 3);
}

/* ---- Beginning and end -------------------------------------------------------------------------------- */

static const struct tpi_handler *find_handler(const struct tp_worker *worker, const char *name) {
    for (size_t i = 0; i < worker->handler_count; i++)
        if (strcmp(worker->handlers[i].name, name) == 0) return &worker->handlers[i];
    return NULL;
}

static tp_status make(struct tp_worker *worker, const tp_batch *batch, size_t i, struct tpi_item **out) {
    struct tpi_item *item = calloc(1, sizeof *item);
    if (!item) return tpi_error(TP_NOMEM, "out of memory");
    tp_status status = tp_batch_take(batch, i, &item->batch);
    if (status != TP_OK) {
        free(item);
        return status;
    }
    item->worker = worker;
    item->task = tp_batch_task(item->batch, 0);
    item->handler = find_handler(worker, item->task->handler);
    item->refs = 1;
    *out = item;
    return TP_OK;
}

static void free_item(struct tpi_item *item) {
    tp_batch_free(item->batch);
    free(item->outcome.reason);
    free(item);
}

tp_status tpi_item_new(struct tp_worker *worker, const tp_batch *batch, size_t i, int64_t taken_ms,
                       struct tpi_item **out) {
    struct tpi_item *item = NULL;
    tp_status status = make(worker, batch, i, &item);
    if (status != TP_OK || !item) return status;
    pthread_mutex_lock(&worker->lock);
    worker->in_hand++;
    extended(item, taken_ms);
    pthread_mutex_unlock(&worker->lock);
    struct tpi_item *rival = NULL;
    enum tpi_flight entered = tpi_flight_enter(item, &rival);
    *out = entered == TPI_FLIGHT_HEIR ? NULL : item;
    if (entered != TPI_FLIGHT_RIVAL) return TP_OK;
    tpi_item_end(item);
    tpi_item_lose(rival, "its lease or its lock was lost, and this process claimed it again");
    tpi_item_unref(rival);
    return TP_EXISTS;
}

tp_status tpi_item_hold(struct tp_worker *worker, const tp_batch *batch, size_t i, struct tpi_item **out) {
    struct tpi_item *item = calloc(1, sizeof *item);
    if (!item) return tpi_error(TP_NOMEM, "out of memory");
    item->worker = worker;
    item->task = tp_batch_task(batch, i);
    item->hold_at = i;
    item->handler = find_handler(worker, item->task->handler);
    item->refs = 1;
    pthread_mutex_lock(&worker->lock);
    worker->in_hand++;
    pthread_mutex_unlock(&worker->lock);
    struct tpi_item *rival = NULL;
    *out = item;
    if (tpi_flight_enter(item, &rival) != TPI_FLIGHT_RIVAL) return TP_OK;
    tpi_item_end(item);
    tpi_item_unref(rival);
    return TP_EXISTS;
}

bool tpi_item_all_ended(const struct tp_worker *worker) {
    return worker->claimer_ended && worker->in_hand == 0;
}

void tpi_item_ref(struct tpi_item *item) {
    item->refs++;
}

void tpi_item_leave_hand(struct tp_worker *worker) {
    if (--worker->in_hand > 0) return;
    if (worker->claimer_ended)
        tpi_worker_wake_all(worker);
    else if (worker->options.drain)
        pthread_cond_signal(&worker->claim);
}

void tpi_item_unref(struct tpi_item *item) {
    struct tp_worker *worker = item->worker;
    pthread_mutex_lock(&worker->lock);
    bool last = --item->refs == 0;
    if (last) tpi_item_leave_hand(worker);
    pthread_mutex_unlock(&worker->lock);
    if (last) free_item(item);
}

void tpi_item_end(struct tpi_item *item) {
    tpi_flight_leave(item);
    pthread_mutex_lock(&item->worker->lock);
    item->ended = true;
    unkeep(item);
    pthread_mutex_unlock(&item->worker->lock);
    tpi_item_unref(item);
}

/* ---- Whose claim it is -------------------------------------------------------------------------------- */

bool tpi_item_start(struct tpi_item *item) {
    pthread_mutex_lock(&item->worker->lock);
    bool leased = tpi_clock_boot_ms() < item->leased_until;
    pthread_mutex_unlock(&item->worker->lock);
    if (leased) atomic_store(&item->started, true);
    return leased;
}

void tpi_item_run(struct tpi_item *item) {
    pthread_mutex_lock(&item->worker->lock);
    item->running = true;
    pthread_mutex_unlock(&item->worker->lock);
}

struct tpi_item *tpi_item_ran(struct tpi_item *item, bool done) {
    for (;;) {
        pthread_mutex_lock(&item->worker->lock);
        struct tpi_item *heir = item->heir;
        item->running = false;
        item->done = done && !heir;
        pthread_mutex_unlock(&item->worker->lock);
        if (!heir) return item;
        tpi_item_end(item);
        item = heir;
    }
}

const struct tpi_item *tpi_item_newest(const struct tpi_item *item) {
    struct tp_worker *worker = item->worker; /* of all of them */
    pthread_mutex_lock(&worker->lock);
    while (item->heir)
        item = item->heir;
    pthread_mutex_unlock(&worker->lock);
    return item;
}

/* What is done is settled even if its claim seems lost: the row says whose it is. */
bool tpi_item_settle(struct tpi_item *item) {
    pthread_mutex_lock(&item->worker->lock);
    bool ours = item->done ? !atomic_load(&item->passed_on) : !atomic_load(&item->lost);
    item->settling = true;
    unkeep(item);
    pthread_mutex_unlock(&item->worker->lock);
    return ours;
}

void tpi_item_resume(struct tpi_item *item, bool unheard) {
    pthread_mutex_lock(&item->worker->lock);
    item->unheard = item->unheard || unheard;
    /* At once: how much of the lease the settle used up is not known. */
    if (item->settling) keep(item, tpi_clock_mono_ms());
    item->settling = false;
    bool gone = atomic_load(&item->passed_on);
    pthread_mutex_unlock(&item->worker->lock);
    if (gone) tpi_item_lose(item, "its lease had lapsed, and this process claimed it again");
}

void tpi_item_lose(struct tpi_item *item, const char *text) {
    pthread_mutex_lock(&item->worker->lock);
    bool settles = item->settling || item->unheard || item->ended || item->done || item->heir;
    bool news = !settles && !atomic_exchange(&item->lost, true);
    if (news) unkeep(item);
    pthread_mutex_unlock(&item->worker->lock);
    if (!news) return;
    tpi_verdict_lost(item, text);
}

/* ---- The keeper's looks ------------------------------------------------------------------------------- */

/* Under the lock. The list is as long as the queue and the threads, so a walk is cheap beside a round trip.
 */
static int64_t next_extension(const struct tp_worker *worker) {
    int64_t first = INT64_MAX;
    for (const struct tpi_item *item = worker->kept; item; item = item->keep_next)
        if (item->extend_at < first) first = item->extend_at;
    return first;
}

/* Under the lock. Those that are due soon come along. */
static size_t take_due(struct tp_worker *worker, int64_t until, struct tpi_item **items) {
    size_t count = 0;
    for (struct tpi_item *item = worker->kept, *next; item && count < TPI_EXTEND_MAX; item = next) {
        next = item->keep_next;
        if (item->extend_at > until) continue;
        unkeep(item);
        tpi_item_ref(item);
        items[count++] = item;
    }
    return count;
}

size_t tpi_keep_next(struct tp_worker *worker, struct tpi_item **items) {
    size_t count = 0;
    pthread_mutex_lock(&worker->lock);
    while (count == 0 && !worker->abandoned && !tpi_item_all_ended(worker)) {
        int64_t first = next_extension(worker);
        int64_t now = tpi_clock_mono_ms();
        worker->keep_until = first;
        if (first <= now)
            count = take_due(worker, now + worker->options.lease_ms / 12, items);
        else
            tpi_worker_wait(worker, &worker->keep, first);
    }
    pthread_mutex_unlock(&worker->lock);
    return count;
}

void tpi_keep_again(struct tpi_item *item, int64_t extend_at) {
    pthread_mutex_lock(&item->worker->lock);
    if (!item->settling && !item->ended && !atomic_load(&item->lost)) keep(item, extend_at);
    pthread_mutex_unlock(&item->worker->lock);
}

void tpi_keep_extended(struct tpi_item *item, int64_t asked_ms) {
    pthread_mutex_lock(&item->worker->lock);
    if (!item->settling && !item->ended && !atomic_load(&item->lost)) extended(item, asked_ms);
    pthread_mutex_unlock(&item->worker->lock);
}
