/* Plan hold's turns: which of the idle handler threads looks for tasks, and when; and whether the worker
 * holds at all, or claims by leases because one that held died lately. The one that looks is the poller.
 * While each look finds tasks, threads that had some look beside it, so that nobody waits for another's
 * claim. */
#include "worker/dispatcher.h"

#include <string.h>

#include "base/clock.h"

bool tpi_poller_wanted(const struct tp_worker *worker) {
    return worker->hold_wanted;
}

void tpi_poller_hold(struct tp_worker *worker, bool holding) {
    pthread_mutex_lock(&worker->life.lock);
    bool news = worker->holding != holding;
    worker->holding = holding;
    if (news) tpi_lifetime_wake_all(&worker->life);
    pthread_mutex_unlock(&worker->life.lock);
    if (news) tpi_trace(TPI_TRACE_WORKER, "plan %s", holding ? "hold" : "by leases: one that held has died");
}

/* The environment's plan is known with the first connection. */
void tpi_poller_choose(struct tp_worker *worker) {
    const char *plan = worker->options.plan;
    if (!plan && worker->first) plan = tp_conn_about(worker->first)->plan;
    worker->hold_wanted = plan && strcmp(plan, "hold") == 0;
    if (worker->hold_wanted) worker->leased_plan = tp_conn_about(worker->first)->leased_plan;
}

/* Under the lock. */
static bool must_wait(const struct tpi_session *session) {
    const struct tp_worker *worker = session->sessions->worker;
    bool beside = session->hold_found && worker->hold_pace.empty == 0;
    bool waits = tpi_queue_is_stuck(worker) || (worker->polling && !beside);
    return worker->holding && waits && !tpi_lifetime_stopping(&worker->life);
}

/* Under the lock, which is given back for it. */
static void leave_unlocked(struct tpi_session *session) {
    pthread_mutex_unlock(&session->sessions->worker->life.lock);
    tpi_transaction_leave(session);
    pthread_mutex_lock(&session->sessions->worker->life.lock);
}

/* Under the lock. True: this thread may look now. */
static bool take_cycle(struct tpi_session *session) {
    struct tp_worker *worker = session->sessions->worker;
    worker->idle++;
    while (must_wait(session)) {
        if (session->begun)
            leave_unlocked(session);
        else
            tpi_signal_wait(&worker->life, &worker->work, INT64_MAX);
    }
    worker->idle--;
    bool mine = worker->holding && !tpi_lifetime_stopping(&worker->life);
    if (!mine) return false;
    session->polls = !worker->polling;
    worker->polling = true;
    /* What is being claimed is in progress: the threads that may have to write its outcome must not end now.
     */
    tpi_lifetime_add_job(&worker->life);
    return true;
}

static void leave_progress(struct tp_worker *worker) {
    pthread_mutex_lock(&worker->life.lock);
    tpi_lifetime_remove_job(&worker->life);
    pthread_mutex_unlock(&worker->life.lock);
}

void tpi_poller_pass(struct tpi_session *session, bool found) {
    struct tp_worker *worker = session->sessions->worker;
    pthread_mutex_lock(&worker->life.lock);
    if (found) tpi_pace_warm(&worker->hold_pace, tpi_clock_mono_ms());
    if (session->polls) {
        worker->polling = false;
        tpi_signal_one(&worker->work);
    }
    pthread_mutex_unlock(&worker->life.lock);
    session->polls = false;
    session->hold_found = found;
}

/* As the poller, between two looks. False: it is to look no more. */
static bool rest(struct tpi_session *session, int64_t began) {
    struct tp_worker *worker = session->sessions->worker;
    int random = (int)tpi_session_random(session, 100);
    pthread_mutex_lock(&worker->life.lock);
    int64_t now = tpi_clock_mono_ms(), drain_at = now + tpi_pace_drain(&worker->hold_pace, now);
    worker->hold_pace.statements = session->statements;
    int64_t until = tpi_pace_next(&worker->hold_pace, began, now, false, random);
    if (worker->options.drain && until > drain_at) until = drain_at;
    worker->idle++;
    while (worker->holding && !worker->woken && !tpi_lifetime_stopping(&worker->life) &&
           tpi_clock_mono_ms() < until)
        tpi_signal_wait(&worker->life, &worker->poller, until);
    worker->idle--;
    if (tpi_worker_take_wake(worker, &session->arrival))
        tpi_pace_warm(&worker->hold_pace, tpi_clock_mono_ms());
    bool may = worker->queue.count == 0 && !tpi_queue_is_stuck(worker);
    bool more = worker->holding && may && !tpi_lifetime_stopping(&worker->life);
    if (more) tpi_lifetime_add_job(&worker->life);
    pthread_mutex_unlock(&worker->life.lock);
    return more;
}

static tp_status ask_due(tp_conn *conn, void *arg) {
    const struct tpi_claiming *claiming = arg;
    return tp_any_due(conn, &claiming->request);
}

/* While nothing comes, one plain statement says whether a transaction is worth beginning. */
static tp_status poll(struct tpi_session *session) {
    struct tpi_claiming claiming;
    pthread_mutex_lock(&session->sessions->worker->life.lock);
    bool tasks_come = session->sessions->worker->hold_pace.empty == 0;
    pthread_mutex_unlock(&session->sessions->worker->life.lock);
    if (tasks_come) return TP_OK;
    tpi_claiming_init(&claiming, session->sessions->worker);
    return tpi_session_try(session, ask_due, &claiming);
}

/* True: nothing was due, and the poller goes on looking, so that no other is woken for nothing. */
static bool poll_and_rest(struct tpi_session *session) {
    int64_t began = tpi_clock_mono_ms();
    size_t ran = 0;
    tp_status status = poll(session);
    if (status == TP_OK) status = tpi_transaction_once(session, &ran);
    leave_progress(session->sessions->worker);
    if (status == TP_OK) return false; /* another looks already */
    tpi_transaction_leave(session);
    if (status == TP_NONE && session->polls && rest(session, began)) return true;
    if (status < 0) tpi_session_recover(session, TPI_UNTIL_STOP, status);
    tpi_poller_pass(session, false);
    return false;
}

bool tpi_poller_cycle(struct tpi_session *session) {
    struct tp_worker *worker = session->sessions->worker;
    pthread_mutex_lock(&worker->life.lock);
    /* What was claimed by leases before comes first: nobody else would run it. */
    bool holding = worker->holding && worker->queue.count == 0;
    bool mine = holding && take_cycle(session);
    pthread_mutex_unlock(&worker->life.lock);
    if (!mine) {
        tpi_transaction_leave(session);
        return holding && !tpi_lifetime_stopping(&worker->life);
    }
    while (poll_and_rest(session))
        continue;
    return true;
}
