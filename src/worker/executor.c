/* The handler threads. Each takes jobs from the queue and runs them; under plan hold it claims for itself.
 * Threads are added while jobs wait, and end when they have been idle for long. Under plan hold one idle
 * thread polls for tasks; while its polls find tasks, threads that had some poll too, so that none waits for
 * another's claim. */
#include "worker/executor.h"
#include "ops/for_workers.h"

#include "base/clock.h"

/* ---- Plan hold: who polls, and when ------------------------------------------------------------------ */

/* Under the queue's lock, which it releases while it waits. True: this thread may poll now, and what it
 * claims is in progress, so that the threads that may have to write its outcome do not end. */
static bool take_cycle(struct tpi_executors *executors, struct tpi_hold *hold) {
    struct tpi_queue *queue = executors->queue;
    tpi_queue_count_idle(queue, 1);
    while (tpi_queue_holds(queue)) {
        bool beside = hold->found && executors->pace.empty == 0;
        if (!tpi_queue_is_stuck(queue) && (!executors->polling || beside)) break;
        if (hold->session->begun) {
            pthread_mutex_unlock(&queue->lock);
            tpi_transaction_leave(hold->session);
            pthread_mutex_lock(&queue->lock);
        } else {
            tpi_queue_wait_work(queue);
        }
    }
    tpi_queue_count_idle(queue, -1);
    if (!tpi_queue_holds(queue) || !tpi_lifetime_begin_claim(executors->life)) return false;
    hold->polls = !executors->polling;
    executors->polling = true;
    return true;
}

static void pass(struct tpi_executors *executors, struct tpi_hold *hold, bool found) {
    pthread_mutex_lock(&executors->queue->lock);
    if (found) tpi_pace_warm(&executors->pace, tpi_clock_mono_ms());
    if (hold->polls) {
        executors->polling = false;
        tpi_queue_wake_executor(executors->queue);
    }
    pthread_mutex_unlock(&executors->queue->lock);
    hold->polls = false;
    hold->found = found;
}

void tpi_executors_claimed(void *executors, struct tpi_hold *hold) {
    pass(executors, hold, true);
}

/* As the one that polls, between two polls. False: it is to poll no more. */
static bool rest(struct tpi_executors *executors, struct tpi_hold *hold, int64_t began) {
    int random = (int)tpi_session_random(hold->session, 100);
    pthread_mutex_lock(&executors->queue->lock);
    int64_t now = tpi_clock_mono_ms(), drain_at = now + tpi_pace_drain(&executors->pace, now);
    executors->pace.statements = hold->session->statements;
    int64_t until = tpi_pace_next(&executors->pace, began, now, false, random);
    if (executors->options->drain && until > drain_at) until = drain_at;
    tpi_queue_count_idle(executors->queue, 1);
    while (tpi_queue_holds(executors->queue) && !tpi_queue_is_woken(executors->queue) &&
           tpi_clock_mono_ms() < until)
        tpi_queue_wait_change(executors->queue, until);
    tpi_queue_count_idle(executors->queue, -1);
    if (tpi_queue_take_wake(executors->queue, &hold->arrival))
        tpi_pace_warm(&executors->pace, tpi_clock_mono_ms());
    bool may = tpi_queue_is_empty(executors->queue) && !tpi_queue_is_stuck(executors->queue);
    bool more = may && tpi_queue_holds(executors->queue) && tpi_lifetime_begin_claim(executors->life);
    pthread_mutex_unlock(&executors->queue->lock);
    return more;
}

static tp_status ask_due(tp_conn *conn, void *arg) {
    struct tpi_claiming *claiming = arg;
    return tpi_any_due(conn, &claiming->request, &claiming->known);
}

/* While nothing comes, one plain statement says whether a transaction is worth beginning, and what the claim
 * in it may take without asking again. */
static tp_status poll_due(struct tpi_executors *executors, struct tpi_hold *hold) {
    struct tpi_claiming claiming;
    pthread_mutex_lock(&executors->queue->lock);
    bool tasks_come = executors->pace.empty == 0;
    pthread_mutex_unlock(&executors->queue->lock);
    if (tasks_come) return TP_OK;
    tpi_claiming_init(&claiming, executors->claims);
    tp_status status = tpi_session_try(hold->session, ask_due, &claiming);
    if (status == TP_OK && !hold->in_vain && !hold->arrival.handler) hold->arrival = claiming.known;
    return status;
}

/* True: nothing was due, and this thread goes on polling, so that no other is woken for nothing. */
static bool poll_and_rest(struct tpi_executors *executors, struct tpi_hold *hold) {
    int64_t began = tpi_clock_mono_ms();
    size_t ran = 0;
    tp_status status = poll_due(executors, hold);
    bool claims = status == TP_OK;
    if (claims) status = tpi_transaction_once(executors->transactions, hold, &ran);
    hold->in_vain = claims && status == TP_NONE;
    tpi_lifetime_remove_job(executors->life);
    if (status == TP_OK) return false; /* another polls already */
    tpi_transaction_leave(hold->session);
    if (status == TP_NONE) tpi_transaction_none_due(hold);
    if (status == TP_NONE && hold->polls && rest(executors, hold, began)) return true;
    if (status < 0) tpi_session_recover(hold->session, TPI_UNTIL_STOP, status);
    hold->arrival.handler = NULL; /* it would be old news */
    pass(executors, hold, false);
    return false;
}

/* Claims, runs and settles, when it is its time. False: the worker does not hold now. */
static bool hold_cycle(struct tpi_executors *executors, struct tpi_hold *hold) {
    pthread_mutex_lock(&executors->queue->lock);
    /* What was claimed by leases before comes first: nobody else would run it. */
    bool holding = tpi_queue_holds(executors->queue) && tpi_queue_is_empty(executors->queue) &&
                   !tpi_queue_has_one_more(executors->queue);
    bool mine = holding && take_cycle(executors, hold);
    pthread_mutex_unlock(&executors->queue->lock);
    if (!mine) {
        tpi_transaction_leave(hold->session);
        return holding && !tpi_lifetime_stopping(executors->life);
    }
    while (poll_and_rest(executors, hold))
        continue;
    return true;
}

/* ---- The threads ------------------------------------------------------------------------------------- */

static void *execute(void *arg) {
    struct tpi_executors *executors = arg;
    struct tpi_session session;
    struct tpi_hold hold = {.session = &session};
    bool ended = false;
    tpi_session_init(&session, executors->sessions, "executor");
    while (!ended) {
        if (hold_cycle(executors, &hold)) continue;
        struct tpi_job *job = tpi_queue_pop(executors->queue, &ended);
        if (job) tpi_run_job(executors->runs, &session, job);
        tpi_session_drop(&session);
    }
    tpi_session_close(&session);
    return NULL;
}

bool tpi_executors_add(struct tpi_executors *executors) {
    if (!tpi_queue_add_executor(executors->queue)) return false;
    if (tpi_threads_start(executors->threads, execute, executors) == TP_OK) return true;
    tpi_queue_remove_executor(executors->queue);
    return false;
}
