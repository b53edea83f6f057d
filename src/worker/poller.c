/* Plan hold: which of the idle executors polls for tasks, and when. While each poll finds tasks, executors
 * that had some poll beside it, so that nobody waits for another's claim. */
#include "worker/poller.h"
#include "ops/for_workers.h"

#include "base/clock.h"

/* Under the queue's lock. */
static bool must_wait(const struct tpi_poller *poller, const struct tpi_hold *hold) {
    bool beside = hold->found && poller->pace.empty == 0;
    bool waits = tpi_queue_is_stuck(poller->queue) || (poller->polling && !beside);
    return waits && tpi_queue_holds(poller->queue);
}

/* Called with the lock held; releases it meanwhile. */
static void leave_unlocked(struct tpi_poller *poller, struct tpi_hold *hold) {
    pthread_mutex_unlock(&poller->queue->lock);
    tpi_transaction_leave(hold->session);
    pthread_mutex_lock(&poller->queue->lock);
}

/* Under the queue's lock. True: this thread may poll now. */
static bool take_cycle(struct tpi_poller *poller, struct tpi_hold *hold) {
    tpi_queue_count_idle(poller->queue, 1);
    while (must_wait(poller, hold)) {
        if (hold->session->begun)
            leave_unlocked(poller, hold);
        else
            tpi_queue_wait_work(poller->queue);
    }
    tpi_queue_count_idle(poller->queue, -1);
    /* What is being claimed is in progress: the threads that may have to write its outcome must not end now.
     */
    if (!tpi_queue_holds(poller->queue) || !tpi_lifetime_begin_claim(poller->life)) return false;
    hold->polls = !poller->polling;
    poller->polling = true;
    return true;
}

static void pass(struct tpi_poller *poller, struct tpi_hold *hold, bool found) {
    pthread_mutex_lock(&poller->queue->lock);
    if (found) tpi_pace_warm(&poller->pace, tpi_clock_mono_ms());
    if (hold->polls) {
        poller->polling = false;
        tpi_queue_wake_executor(poller->queue);
    }
    pthread_mutex_unlock(&poller->queue->lock);
    hold->polls = false;
    hold->found = found;
}

void tpi_poller_claimed(void *poller, struct tpi_hold *hold) {
    pass(poller, hold, true);
}

/* As the one that polls, between two polls. False: it is to poll no more. */
static bool rest(struct tpi_poller *poller, struct tpi_hold *hold, int64_t began) {
    int random = (int)tpi_session_random(hold->session, 100);
    pthread_mutex_lock(&poller->queue->lock);
    int64_t now = tpi_clock_mono_ms(), drain_at = now + tpi_pace_drain(&poller->pace, now);
    poller->pace.statements = hold->session->statements;
    int64_t until = tpi_pace_next(&poller->pace, began, now, false, random);
    if (poller->options->drain && until > drain_at) until = drain_at;
    tpi_queue_count_idle(poller->queue, 1);
    while (tpi_queue_holds(poller->queue) && !tpi_wakeup_is_set(poller->wakeup) &&
           tpi_clock_mono_ms() < until)
        tpi_queue_wait_change(poller->queue, until);
    tpi_queue_count_idle(poller->queue, -1);
    if (tpi_wakeup_take(poller->wakeup, &hold->arrival)) tpi_pace_warm(&poller->pace, tpi_clock_mono_ms());
    bool may = tpi_queue_is_empty(poller->queue) && !tpi_queue_is_stuck(poller->queue);
    bool more = may && tpi_queue_holds(poller->queue) && tpi_lifetime_begin_claim(poller->life);
    pthread_mutex_unlock(&poller->queue->lock);
    return more;
}

static tp_status ask_due(tp_conn *conn, void *arg) {
    const struct tpi_claiming *claiming = arg;
    return tpi_any_due(conn, &claiming->request);
}

/* While nothing comes, one plain statement says whether a transaction is worth beginning. */
static tp_status poll_due(struct tpi_poller *poller, struct tpi_hold *hold) {
    struct tpi_claiming claiming;
    pthread_mutex_lock(&poller->queue->lock);
    bool tasks_come = poller->pace.empty == 0;
    pthread_mutex_unlock(&poller->queue->lock);
    if (tasks_come) return TP_OK;
    tpi_claiming_init(&claiming, poller->claims);
    return tpi_session_try(hold->session, ask_due, &claiming);
}

/* True: nothing was due, and this thread goes on polling, so that no other is woken for nothing. */
static bool poll_and_rest(struct tpi_poller *poller, struct tpi_hold *hold) {
    int64_t began = tpi_clock_mono_ms();
    size_t ran = 0;
    tp_status status = poll_due(poller, hold);
    if (status == TP_OK) status = tpi_transaction_once(poller->transactions, hold, &ran);
    tpi_lifetime_remove_job(poller->life);
    if (status == TP_OK) return false; /* another polls already */
    tpi_transaction_leave(hold->session);
    if (status == TP_NONE && hold->polls && rest(poller, hold, began)) return true;
    if (status < 0) tpi_session_recover(hold->session, TPI_UNTIL_STOP, status);
    pass(poller, hold, false);
    return false;
}

bool tpi_poller_cycle(struct tpi_poller *poller, struct tpi_hold *hold) {
    pthread_mutex_lock(&poller->queue->lock);
    /* What was claimed by leases before comes first: nobody else would run it. */
    bool holding = tpi_queue_holds(poller->queue) && tpi_queue_is_empty(poller->queue);
    bool mine = holding && take_cycle(poller, hold);
    pthread_mutex_unlock(&poller->queue->lock);
    if (!mine) {
        tpi_transaction_leave(hold->session);
        return holding && !tpi_lifetime_stopping(poller->life);
    }
    while (poll_and_rest(poller, hold))
        continue;
    return true;
}
