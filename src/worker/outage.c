/* What the owner is told: one OFFLINE and ONLINE for a whole outage although each thread finds out by itself.
 * How it gets there: notify.c. */
#include "worker/worker.h"

static const char *const names[] = {
#define EVENT_NAME(id, name) name,
    TP_EVENT_LIST(EVENT_NAME)
#undef EVENT_NAME
};

const char *tp_event_name(tp_event event) {
    return (unsigned)event < TP_EVENT_COUNT ? names[event] : "unknown";
}

void tpi_notice_send(struct tp_worker *worker, tp_event event, const tp_task *task, const char *text) {
    tpi_trace(TPI_TRACE_WORKER, "event %s task=%s %s", tp_event_name(event), task ? task->id : "-",
              text ? text : "");
    tpi_notify_send(&worker->notify, event, task, text);
}

void tpi_notice_offline(struct tpi_line *line, bool fresh, const char *text) {
    struct tp_worker *worker = line->worker;
    pthread_mutex_lock(&worker->event_lock);
    if (!atomic_load(&worker->offline) && (fresh || line->outage_seen == worker->outage)) {
        atomic_store(&worker->offline, true);
        worker->outage++;
        tpi_notice_send(worker, TP_EVENT_OFFLINE, NULL, text);
    }
    pthread_mutex_unlock(&worker->event_lock);
}

void tpi_notice_online(struct tpi_line *line) {
    struct tp_worker *worker = line->worker;
    pthread_mutex_lock(&worker->event_lock);
    line->outage_seen = worker->outage;
    if (atomic_load(&worker->offline)) {
        atomic_store(&worker->offline, false);
        tpi_notice_send(worker, TP_EVENT_ONLINE, NULL, NULL);
    }
    pthread_mutex_unlock(&worker->event_lock);
}
