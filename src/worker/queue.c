/* The claimed tasks that wait for an executor thread: how many fit, which thread takes the next, when to
 * start one more thread, and when there is room enough for another claim. The dispatcher waits here for
 * room; an enqueue in this process wakes it and names the new tasks. While more than half of the queue is
 * taken one thread more than threads_max takes from it (TP_FULL_EXTRA_THREAD). No database calls here. Read
 * next: dispatcher.c, executor.c. */
#include "worker/queue.h"

#include "base/clock.h"
#include "base/trace.h"

/* Under the lock. Completions beyond one group that the completer has not written yet take room too: a
 * database that does not take them gets no more claims. */
static size_t unsettled(const struct tpi_queue *queue) {
    size_t count = queue->unsettled;
    return count > queue->options->settle_count ? count - queue->options->settle_count : 0;
}

/* Under the lock. How many handler threads could be added, whatever the queue holds. */
static size_t spare(const struct tpi_queue *queue) {
    size_t most = (size_t)queue->options->threads_max;
    return queue->life->stepping || queue->executors >= most ? 0 : most - queue->executors;
}

/* Under the lock. More than half of the queue is taken: no further claim, and one more thread may help. */
static bool is_over_half(const struct tpi_queue *queue) {
    return queue->list.count > queue->options->queue / 2;
}

/* Under the lock. */
static bool may_add(const struct tpi_queue *queue) {
    bool one_more = queue->options->when_full == TP_FULL_EXTRA_THREAD && is_over_half(queue) &&
                    queue->executors == (size_t)queue->options->threads_max;
    return spare(queue) > 0 || one_more;
}

bool tpi_queue_has_one_more(const struct tpi_queue *queue) {
    return queue->executors > (size_t)queue->options->threads_max;
}

bool tpi_queue_add_executor(struct tpi_queue *queue) {
    pthread_mutex_lock(&queue->lock);
    bool may = may_add(queue);
    queue->executors += may;
    pthread_mutex_unlock(&queue->lock);
    return may;
}

void tpi_queue_remove_executor(struct tpi_queue *queue) {
    pthread_mutex_lock(&queue->lock);
    queue->executors--;
    tpi_signal_all(&queue->work); /* it counted as busy */
    pthread_mutex_unlock(&queue->lock);
}

/* Under the lock. Free places, and handler threads that have nothing to do or could be started. */
static size_t room(const struct tpi_queue *queue) {
    size_t most = queue->options->queue + queue->idle + spare(queue);
    size_t used = queue->list.count + unsettled(queue);
    return most > used ? most - used : 0;
}

/* Under the lock. A claim for every single place that gets free would cost a round trip a task, so half of
 * the queue is to be free. */
static bool worth_a_claim(const struct tpi_queue *queue) {
    return !is_over_half(queue) && room(queue) > 0;
}

size_t tpi_queue_room(struct tpi_queue *queue) {
    size_t batch = queue->options->batch;
    pthread_mutex_lock(&queue->lock);
    size_t places = worth_a_claim(queue) ? room(queue) : 0;
    pthread_mutex_unlock(&queue->lock);
    if (places && queue->options->when_full == TP_FULL_ABORT) return batch;
    return places < batch ? places : batch;
}

void tpi_queue_wait_change(struct tpi_queue *queue, int64_t until_ms) {
    tpi_signal_wait(&queue->room, until_ms);
}

void tpi_queue_wait_room(struct tpi_queue *queue, int64_t until_ms) {
    pthread_mutex_lock(&queue->lock);
    while (!worth_a_claim(queue) && !tpi_lifetime_stopping(queue->life) && tpi_clock_mono_ms() < until_ms)
        tpi_queue_wait_change(queue, until_ms);
    pthread_mutex_unlock(&queue->lock);
}

enum tpi_push tpi_queue_push(struct tpi_queue *queue, struct tpi_job *job) {
    pthread_mutex_lock(&queue->lock);
    bool placed = room(queue) > 0;
    bool short_handed = placed && queue->idle <= queue->list.count;
    if (placed) tpi_list_push(&queue->list, job);
    short_handed = short_handed && may_add(queue);
    tpi_signal_one(&queue->work);
    pthread_mutex_unlock(&queue->lock);
    if (!placed) return TPI_PUSH_NO_ROOM;
    return short_handed ? TPI_PUSHED_ADD_EXECUTOR : TPI_PUSHED;
}

/* Under the lock. */
static struct tpi_job *take_first(struct tpi_queue *queue) {
    struct tpi_job *job = tpi_list_pop(&queue->list);
    if (job && worth_a_claim(queue)) tpi_signal_all(&queue->room);
    if (job && queue->held && !queue->list.count) tpi_signal_all(&queue->work); /* they may hold now */
    return job;
}

bool tpi_queue_is_stuck(const struct tpi_queue *queue) {
    return queue->unanswered || unsettled(queue) > 0;
}

/* Under the lock. While what was done cannot be stored nothing is begun: should the process die, or the
 * leases end, before the database is back, all that was done meanwhile would be done again. */
static bool may_start(const struct tpi_queue *queue) {
    size_t busy = queue->executors - queue->idle;
    bool needed = busy < (size_t)queue->options->threads_max || is_over_half(queue);
    return queue->list.count && !queue->unanswered && needed;
}

/* Under the lock. What was claimed by leases comes before a claim of plan hold, which the one thread more is
 * not for. False: this thread is to end, because it has been idle for too long or the worker stops. */
static bool await_work(struct tpi_queue *queue) {
    int64_t until = tpi_clock_mono_ms() + queue->options->keep_alive_ms;
    while (!may_start(queue) && !tpi_lifetime_stopping(queue->life) && !(queue->held && !queue->list.count)) {
        bool surplus = queue->executors > (size_t)queue->options->threads;
        if (surplus && tpi_clock_mono_ms() >= until) return false;
        tpi_signal_wait(&queue->work, surplus ? until : INT64_MAX);
    }
    return !tpi_lifetime_stopping(queue->life) && (queue->list.count || !tpi_queue_has_one_more(queue));
}

struct tpi_job *tpi_queue_pop(struct tpi_queue *queue, bool *ended) {
    struct tpi_job *job = NULL;
    pthread_mutex_lock(&queue->lock);
    queue->idle++;
    tpi_signal_all(&queue->room);
    *ended = !await_work(queue);
    if (!*ended && may_start(queue)) job = take_first(queue);
    queue->idle--;
    if (*ended) queue->executors--;
    pthread_mutex_unlock(&queue->lock);
    return job;
}

struct tpi_job *tpi_queue_try_pop(struct tpi_queue *queue) {
    pthread_mutex_lock(&queue->lock);
    bool may = may_start(queue) && !tpi_lifetime_stopping(queue->life);
    struct tpi_job *job = may ? take_first(queue) : NULL;
    pthread_mutex_unlock(&queue->lock);
    return job;
}

struct tpi_job *tpi_queue_take_unstarted(struct tpi_queue *queue) {
    pthread_mutex_lock(&queue->lock);
    struct tpi_job *job = tpi_list_pop(&queue->list);
    pthread_mutex_unlock(&queue->lock);
    return job;
}

/* ---- What the completer says ------------------------------------------------------------------------- */

void tpi_queue_set_unsettled(struct tpi_queue *queue, size_t count) {
    pthread_mutex_lock(&queue->lock);
    bool fewer = count < queue->unsettled;
    queue->unsettled = count;
    if (fewer) tpi_signal_all(&queue->room);
    if (fewer && queue->held) tpi_signal_all(&queue->work);
    pthread_mutex_unlock(&queue->lock);
}

void tpi_queue_set_unanswered(struct tpi_queue *queue, bool unanswered) {
    pthread_mutex_lock(&queue->lock);
    bool back = queue->unanswered && !unanswered;
    queue->unanswered = unanswered;
    if (back) tpi_signal_all(&queue->work);
    pthread_mutex_unlock(&queue->lock);
}

/* ---- An enqueue in this process ---------------------------------------------------------------------- */

/* The worker's own text, which lives as long as it; NULL: not one of its handlers. */
static const char *own_name(const struct tpi_queue *queue, const char *name) {
    const struct tpi_handler *handler = name ? tpi_handler_find(queue->handlers, name) : NULL;
    return handler ? handler->name : NULL;
}

static bool wants(const struct tpi_arrival *arrival, void *arg) {
    return !arrival->handler || own_name(arg, arrival->handler);
}

static void wake(const struct tpi_arrival *arrival, void *arg) {
    struct tpi_queue *queue = arg;
    const char *handler = own_name(queue, arrival->handler);
    pthread_mutex_lock(&queue->lock);
    bool same = handler == queue->arrival.handler && arrival->priority == queue->arrival.priority;
    queue->arrival = (struct tpi_arrival){!queue->woken || same ? handler : NULL, arrival->priority};
    queue->woken = true;
    tpi_signal_all(&queue->room);
    pthread_mutex_unlock(&queue->lock);
}

void tpi_queue_init_wake(struct tpi_queue *queue) {
    queue->wake = (struct tpi_wake){.wants = wants, .wake = wake, .arg = queue};
}

void tpi_queue_wake(struct tpi_queue *queue) {
    wake(&(struct tpi_arrival){NULL, 0}, queue);
}

bool tpi_queue_is_woken(const struct tpi_queue *queue) {
    return queue->woken;
}

bool tpi_queue_wait_wake(struct tpi_queue *queue, int64_t until_ms) {
    pthread_mutex_lock(&queue->lock);
    while (!queue->woken && !tpi_lifetime_stopping(queue->life) && tpi_clock_mono_ms() < until_ms)
        tpi_queue_wait_change(queue, until_ms);
    bool woken = queue->woken || tpi_lifetime_stopping(queue->life);
    pthread_mutex_unlock(&queue->lock);
    return woken;
}

bool tpi_queue_take_wake(struct tpi_queue *queue, struct tpi_arrival *arrival) {
    bool woken = queue->woken;
    *arrival = woken ? queue->arrival : (struct tpi_arrival){NULL, 0};
    queue->woken = false;
    return woken;
}

/* ---- Plan hold --------------------------------------------------------------------------------------- */

void tpi_queue_hold(struct tpi_queue *queue, bool held) {
    pthread_mutex_lock(&queue->lock);
    bool news = queue->held != held;
    queue->held = held;
    if (news) {
        tpi_signal_all(&queue->work);
        tpi_signal_all(&queue->room);
    }
    pthread_mutex_unlock(&queue->lock);
    if (news) tpi_trace(TPI_TRACE_WORKER, "plan %s", held ? "hold" : "by leases: one that held has died");
}

bool tpi_queue_is_held(struct tpi_queue *queue) {
    pthread_mutex_lock(&queue->lock);
    bool held = queue->held;
    pthread_mutex_unlock(&queue->lock);
    return held;
}

bool tpi_queue_holds(const struct tpi_queue *queue) {
    return queue->held && !tpi_lifetime_stopping(queue->life);
}

bool tpi_queue_is_empty(const struct tpi_queue *queue) {
    return queue->list.count == 0;
}

void tpi_queue_count_idle(struct tpi_queue *queue, int change) {
    queue->idle += (size_t)change;
}

void tpi_queue_wait_work(struct tpi_queue *queue) {
    tpi_signal_wait(&queue->work, INT64_MAX);
}

void tpi_queue_wake_executor(struct tpi_queue *queue) {
    tpi_signal_one(&queue->work);
}
