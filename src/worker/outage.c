/* One OFFLINE and ONLINE for a whole outage, although each thread finds out by itself. */
#include "worker/worker.h"

void tpi_outage_begin(struct tpi_session *session, bool fresh, const char *text) {
    struct tp_worker *worker = session->worker;
    pthread_mutex_lock(&worker->event_lock);
    if (!atomic_load(&worker->offline) && (fresh || session->outage_seen == worker->outage)) {
        atomic_store(&worker->offline, true);
        worker->outage++;
        tpi_notify_send(worker, TP_EVENT_OFFLINE, NULL, text);
    }
    pthread_mutex_unlock(&worker->event_lock);
}

void tpi_outage_end(struct tpi_session *session) {
    struct tp_worker *worker = session->worker;
    pthread_mutex_lock(&worker->event_lock);
    session->outage_seen = worker->outage;
    if (atomic_load(&worker->offline)) {
        atomic_store(&worker->offline, false);
        tpi_notify_send(worker, TP_EVENT_ONLINE, NULL, NULL);
    }
    pthread_mutex_unlock(&worker->event_lock);
}
