/* The thread that tells the owner of tasks that reached the failed pool, at once for those of this worker and
 * now and then for those of others: of a claim, or of a worker that died before it could tell. The database
 * sees to it that each is told at least once. */
#include "worker/dispatcher.h"

#include "base/clock.h"
#include "worker/watchdog.h"

struct alerter {
    struct tpi_session *session;
    size_t delivered;
};

/* In the midst of asking, but the owner may take its time: that is no silence of the database. Past the
 * stop's deadline what is left is another worker's, a minute later. */
static int call_owner(const tp_task *task, const char *text, void *arg) {
    const struct tpi_session *session = arg;
    const struct tp_worker_options *options = &session->sessions->worker->options;
    if (tpi_lifetime_past_deadline(&session->sessions->worker->life)) return 1;
    tpi_watchdog_end();
    int answer = options->on_alert(task, text, options->alert_arg);
    tpi_watchdog_begin(session->who);
    return answer;
}

static tp_status ask_alerts(tp_conn *conn, void *arg) {
    struct alerter *alerter = arg;
    const char *names[TP_CLAIM_HANDLERS_MAX];
    const struct tp_worker *worker = alerter->session->sessions->worker;
    for (size_t i = 0; i < worker->handler_count; i++)
        names[i] = worker->handlers[i].name;
    alerter->delivered = 0;
    return tp_alert_each(conn, names, worker->handler_count, 0, call_owner, alerter->session,
                         &alerter->delivered);
}

tp_status tpi_alerter_deliver(struct tpi_session *session) {
    struct alerter alerter = {.session = session};
    tp_status status;
    do
        status = tpi_session_try(session, ask_alerts, &alerter);
    while (status == TP_OK && alerter.delivered > 0 &&
           !tpi_lifetime_past_deadline(&session->sessions->worker->life));
    return status;
}

void tpi_alerter_wake(struct tp_worker *worker) {
    pthread_mutex_lock(&worker->life.lock);
    worker->alert_wanted = true;
    tpi_signal_one(&worker->alert);
    pthread_mutex_unlock(&worker->life.lock);
}

/* False: nothing can come any more. */
static bool await_alert(struct tp_worker *worker, int64_t ms) {
    int64_t until = tpi_clock_mono_ms() + ms;
    pthread_mutex_lock(&worker->life.lock);
    while (!worker->alert_wanted && !tpi_lifetime_over(&worker->life) && tpi_clock_mono_ms() < until)
        tpi_signal_wait(&worker->life, &worker->alert, until);
    bool more = worker->alert_wanted || !tpi_lifetime_over(&worker->life);
    worker->alert_wanted = false;
    pthread_mutex_unlock(&worker->life.lock);
    return more;
}

/* The pauses of other threads end with the last task. */
static void rest_at_end(struct tp_worker *worker) {
    int64_t until = tpi_clock_mono_ms() + TPI_BACKOFF_FIRST_MS;
    pthread_mutex_lock(&worker->life.lock);
    while (tpi_clock_mono_ms() < until)
        tpi_signal_wait(&worker->life, &worker->alert, until);
    pthread_mutex_unlock(&worker->life.lock);
}

/* Nobody else may be there to tell of what was left, so it is asked for as long as settles are. */
static void deliver_at_end(struct tpi_session *session) {
    int64_t since = tpi_clock_mono_ms();
    for (;;) {
        tp_status status = tpi_alerter_deliver(session);
        if (status >= 0) return;
        if (!tpi_session_may_retry(session, status) ||
            tpi_lifetime_grace_over(&session->sessions->worker->life, since)) {
            tpi_notify_send(&session->sessions->worker->notify, TP_EVENT_ERROR, NULL, tp_last_error()->text);
            return;
        }
        rest_at_end(session->sessions->worker);
    }
}

void *tpi_alerter_main(void *arg) {
    struct tp_worker *worker = arg;
    struct tpi_session session;
    bool owing = worker->options.drain; /* a claim of its own may have given tasks up */
    tpi_session_init(&session, &worker->sessions, "alerter");
    while (await_alert(worker, TPI_ALERT_EVERY_MS / 2 + tpi_session_random(&session, TPI_ALERT_EVERY_MS))) {
        tp_status status = tpi_alerter_deliver(&session);
        owing = worker->options.drain || status < 0;
        if (status < 0) tpi_session_recover(&session, TPI_UNTIL_GRACE, status);
    }
    if (owing) deliver_at_end(&session);
    tpi_session_close(&session);
    return NULL;
}
