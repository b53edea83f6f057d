/* The thread that calls on_alert, or on_alert_group, for tasks that reached the failed pool: at once for
 * those of this worker, now and then for those of other workers, which may have died before they could. The
 * database makes sure that each is delivered at least once. */
#include "worker/alerter.h"

#include "base/clock.h"
#include "ops/for_workers.h"
#include "worker/watchdog.h"

enum { ALERT_EVERY_MS = 5000 }; /* how often alerts that nobody gave are looked for */

struct delivery {
    struct tpi_alerter *alerter;
    struct tpi_session *session;
    bool at_once; /* a group, too */
    size_t delivered;
};

/* In the midst of asking, but the owner may take its time: that is no silence of the database. Past the
 * stop's deadline what is left is another worker's, a minute later. */
static int call_owner(const tp_task *task, const char *text, void *arg) {
    const struct delivery *delivery = arg;
    const tp_worker_options *options = delivery->alerter->options;
    if (tpi_lifetime_past_deadline(delivery->alerter->life)) return 1;
    tpi_watchdog_end();
    int answer = options->on_alert(task, text, options->alert_arg);
    tpi_watchdog_begin(delivery->session->who);
    return answer;
}

static int call_owner_of_group(const tp_batch *tasks, void *arg) {
    const struct delivery *delivery = arg;
    const tp_worker_options *options = delivery->alerter->options;
    if (tpi_lifetime_past_deadline(delivery->alerter->life)) return 1;
    tpi_watchdog_end();
    int answer = options->on_alert_group(tasks, options->alert_arg);
    tpi_watchdog_begin(delivery->session->who);
    return answer;
}

static tp_status ask_group(tp_conn *conn, void *arg) {
    struct delivery *delivery = arg;
    struct tpi_alerter *alerter = delivery->alerter;
    const tp_worker_options *options = alerter->options;
    return tpi_alert_group(conn, alerter->handlers->names, alerter->handlers->count,
                           delivery->at_once ? 0 : options->alert_group_ms, options->alert_group_max,
                           call_owner_of_group, delivery, &delivery->delivered, &alerter->next_ms);
}

static tp_status ask_alerts(tp_conn *conn, void *arg) {
    struct delivery *delivery = arg;
    const struct tpi_handler_table *handlers = delivery->alerter->handlers;
    delivery->delivered = 0;
    return tp_alert_each(conn, handlers->names, handlers->count, 0, call_owner, delivery,
                         &delivery->delivered);
}

bool tpi_alerter_wanted(const struct tpi_alerter *alerter) {
    return alerter->options->on_alert || alerter->options->on_alert_group;
}

tp_status tpi_alerter_deliver(struct tpi_alerter *alerter, struct tpi_session *session, bool at_once) {
    struct delivery delivery = {.alerter = alerter, .session = session, .at_once = at_once};
    tpi_ask_fn ask = alerter->options->on_alert_group ? ask_group : ask_alerts;
    tp_status status;
    do
        status = tpi_session_try(session, ask, &delivery);
    while (status == TP_OK && delivery.delivered > 0 && !tpi_lifetime_past_deadline(alerter->life));
    return status;
}

void tpi_alerter_wake(struct tpi_alerter *alerter) {
    pthread_mutex_lock(&alerter->lock);
    alerter->wanted = true;
    tpi_signal_one(&alerter->signal);
    pthread_mutex_unlock(&alerter->lock);
}

/* False: nothing can come any more. While a group waits for its time, more that come change nothing. */
static bool await_alert(struct tpi_alerter *alerter, int64_t ms) {
    bool collecting = alerter->next_ms > 0;
    int64_t until = tpi_clock_mono_ms() + (collecting ? alerter->next_ms : ms);
    pthread_mutex_lock(&alerter->lock);
    while ((collecting || !alerter->wanted) && !tpi_lifetime_over(alerter->life) &&
           tpi_clock_mono_ms() < until)
        tpi_signal_wait(&alerter->signal, until);
    bool more = alerter->wanted || !tpi_lifetime_over(alerter->life);
    alerter->wanted = false;
    pthread_mutex_unlock(&alerter->lock);
    return more;
}

/* The pauses of other threads end with the last task. */
static void rest_at_end(struct tpi_alerter *alerter) {
    int64_t until = tpi_clock_mono_ms() + TPI_BACKOFF_FIRST_MS;
    pthread_mutex_lock(&alerter->lock);
    while (tpi_clock_mono_ms() < until)
        tpi_signal_wait(&alerter->signal, until);
    pthread_mutex_unlock(&alerter->lock);
}

/* Nobody else may be there to deliver what was left, so it is asked for as long as settles are. */
static void deliver_at_end(struct tpi_alerter *alerter, struct tpi_session *session) {
    int64_t since = tpi_clock_mono_ms();
    for (;;) {
        tp_status status = tpi_alerter_deliver(alerter, session, true);
        if (status >= 0) return;
        if (!tpi_session_may_retry(session, status) || tpi_lifetime_grace_over(alerter->life, since)) {
            tpi_notify_send(alerter->sessions->notify, TP_EVENT_ERROR, NULL, tp_last_error()->text);
            return;
        }
        rest_at_end(alerter);
    }
}

void *tpi_alerter_main(void *arg) {
    struct tpi_alerter *alerter = arg;
    struct tpi_session session;
    /* A claim of its own may have given tasks up; and a group may wait for its time, or another may come. */
    bool owes = alerter->options->drain || alerter->options->on_alert_group;
    bool owing = owes;
    tpi_session_init(&session, alerter->sessions, "alerter");
    while (await_alert(alerter, ALERT_EVERY_MS / 2 + tpi_session_random(&session, ALERT_EVERY_MS))) {
        tp_status status = tpi_alerter_deliver(alerter, &session, false);
        owing = owes || status < 0;
        if (status < 0) tpi_session_recover(&session, TPI_UNTIL_GRACE, status);
    }
    if (owing) deliver_at_end(alerter, &session);
    tpi_session_close(&session);
    return NULL;
}
