/* What the claiming thread does now and then besides: it fires schedules, deletes settled rows that are past
 * their time, and tells the pool that this worker is there (heartbeat.c). None of it may keep the worker from
 * its tasks. */
#include "worker/dispatcher.h"

#include "base/clock.h"

enum {
    CLEAN_FIRST_MS = 2000,  /* processes that start together do not clean together */
    CLEAN_EVERY_MS = 60000, /* a whole chore the sooner again */
    CLEAN_ROWS = 500,
    SCHEDULE_EVERY_MS = 5000, /* somebody may have added a sooner one */
};

void tpi_maintenance_init(struct tpi_maintenance *maintenance, struct tp_worker *worker,
                          struct tpi_session *session) {
    *maintenance = (struct tpi_maintenance){.worker = worker, .session = session};
    int64_t now = tpi_clock_mono_ms();
    maintenance->schedule_at = worker->options.schedules ? now : INT64_MAX;
    maintenance->clean_at = now + tpi_session_random(session, CLEAN_FIRST_MS);
}

int64_t tpi_maintenance_next(const struct tpi_maintenance *maintenance) {
    int64_t send_at = tpi_heartbeat_next(maintenance->worker);
    int64_t next = send_at < maintenance->clean_at ? send_at : maintenance->clean_at;
    return next < maintenance->schedule_at ? next : maintenance->schedule_at;
}

/* ---- Schedules and old rows -------------------------------------------------------------------------- */

static tp_status ask_fire(tp_conn *conn, void *arg) {
    struct tpi_maintenance *maintenance = arg;
    return tp_schedule_fire(conn, &maintenance->fired, &maintenance->wait_ms);
}

void tpi_maintenance_fire(struct tpi_maintenance *maintenance) {
    maintenance->fired = 0;
    maintenance->wait_ms = -1;
    tp_status status = tpi_session_try(maintenance->session, ask_fire, maintenance);
    /* A schedule that cannot be read is a failure too, and does not hold up the others. */
    int64_t wait = maintenance->wait_ms < 0 || maintenance->wait_ms > SCHEDULE_EVERY_MS
                       ? SCHEDULE_EVERY_MS
                       : maintenance->wait_ms;
    maintenance->schedule_at = tpi_clock_mono_ms() + wait + 1;
    tpi_session_report_once(maintenance->session, status, &maintenance->fire_failed);
    if (maintenance->fired) tpi_worker_wake(maintenance->worker);
}

static tp_status ask_clean(tp_conn *conn, void *arg) {
    struct tpi_maintenance *maintenance = arg;
    return tp_keep_house(conn, CLEAN_ROWS, &maintenance->deleted);
}

static void clean(struct tpi_maintenance *maintenance) {
    maintenance->deleted = 0;
    tp_status status = tpi_session_try(maintenance->session, ask_clean, maintenance);
    bool more = status >= 0 && maintenance->deleted >= CLEAN_ROWS;
    int64_t pause = more ? CLEAN_EVERY_MS / 60 : CLEAN_EVERY_MS / 2;
    maintenance->clean_at = tpi_clock_mono_ms() + pause + tpi_session_random(maintenance->session, pause);
    tpi_session_report_once(maintenance->session, status, &maintenance->clean_failed);
}

void tpi_maintenance_do(struct tpi_maintenance *maintenance) {
    int64_t now = tpi_clock_mono_ms();
    unsigned tries = maintenance->session->tries;
    if (maintenance->session->broken) return;
    if (now >= tpi_heartbeat_next(maintenance->worker)) (void)tpi_heartbeat_send(maintenance->session);
    if (now >= maintenance->schedule_at && !maintenance->session->broken) tpi_maintenance_fire(maintenance);
    if (now >= maintenance->clean_at && !maintenance->session->broken) clean(maintenance);
    /* That a chore went well does not end a row of claims that did not, nor the other way about. */
    if (!maintenance->session->broken) maintenance->session->tries = tries;
}
