/* The duties of the dispatcher besides claiming (heartbeat, schedules, retention): a table of them, each
 * with the time at which it is due. No duty may keep the worker from its tasks. */
#include "worker/maintenance.h"

#include "base/clock.h"

enum {
    CLEAN_FIRST_MS = 2000,  /* processes that start together do not clean together */
    CLEAN_EVERY_MS = 60000, /* a whole chunk the sooner again */
    CLEAN_ROWS = 500,
    FORGET_EVERY_MS = 3600000,
    SCHEDULE_EVERY_MS = 5000, /* somebody may have added a sooner one */
    TOKENS_EVERY_MS = 1000,   /* the same */
    TOKENS_LEAST_MS = 100,    /* the workers that are there do so together */
    GROUPS_EVERY_MS = 300,    /* while this worker settles tasks */
    GROUPS_REST_MS = 1000,    /* while it does not, and there are groups */
};

/* ---- The pool hears of this worker --------------------------------------------------------------------- */

static int64_t heartbeat_at(const struct tpi_maintenance *maintenance) {
    return tpi_heartbeat_next(maintenance->heartbeat);
}

static void send_heartbeat(struct tpi_maintenance *maintenance) {
    (void)tpi_heartbeat_send(maintenance->heartbeat, maintenance->session);
}

/* ---- Schedules ----------------------------------------------------------------------------------------- */

static int64_t schedule_at(const struct tpi_maintenance *maintenance) {
    return maintenance->schedule_at;
}

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
    if (maintenance->fired) tpi_queue_wake(maintenance->queue);
}

/* ---- Deleting what is past its retention, rolling activity up, mending gates, ending what is not wanted --
 */

static int64_t clean_at(const struct tpi_maintenance *maintenance) {
    return maintenance->clean_at;
}

static tp_status delete_and_roll_up(tp_conn *conn, void *arg) {
    struct tpi_maintenance *maintenance = arg;
    tp_status status = tp_retention_apply(conn, CLEAN_ROWS, &maintenance->deleted);
    if (status != TP_OK) return status;
    status = tpi_activity_roll_up(conn, maintenance->rolled_up);
    if (status == TP_CONFLICT) status = TP_OK; /* others do the same */
    maintenance->more = maintenance->more || status == TP_OK || maintenance->deleted >= CLEAN_ROWS;
    return status;
}

static tp_status mend_gates(tp_conn *conn, void *arg) {
    (void)arg;
    tp_status status = tpi_gates_look_for_tokens(conn);
    if (status == TP_OK) status = tpi_gates_mend(conn);
    return status == TP_CONFLICT || status == TP_TIMEOUT ? TP_OK : status; /* others are at the same gates */
}

static tp_status sweep_cancelled(tp_conn *conn, void *arg) {
    struct tpi_maintenance *maintenance = arg;
    size_t done = 0;
    tp_status status = tpi_cancel_sweep(conn, CLEAN_ROWS, &done);
    maintenance->more = maintenance->more || done >= CLEAN_ROWS;
    return status == TP_CONFLICT || status == TP_TIMEOUT ? TP_OK : status; /* others do the same */
}

static void clean(struct tpi_maintenance *maintenance) {
    maintenance->more = false;
    tp_status swept = tpi_session_try(maintenance->session, sweep_cancelled, maintenance);
    tpi_session_report_once(maintenance->session, swept, &maintenance->sweep_failed);
    if (maintenance->session->broken) return;
    tp_status status = tpi_session_try(maintenance->session, delete_and_roll_up, maintenance);
    int64_t pause = maintenance->more ? CLEAN_EVERY_MS / 60 : CLEAN_EVERY_MS / 2;
    maintenance->clean_at = tpi_clock_mono_ms() + pause + tpi_session_random(maintenance->session, pause);
    tpi_session_report_once(maintenance->session, status, &maintenance->clean_failed);
    if (maintenance->session->broken) return;
    status = tpi_session_try(maintenance->session, mend_gates, NULL);
    tpi_session_report_once(maintenance->session, status, &maintenance->mend_failed);
    maintenance->groups = true; /* somebody may have opened one, and nothing of it need be settled here */
}

/* ---- Groups that have ended ---------------------------------------------------------------------------- */

/* One of the last tasks of a group may have been settled here. */
static bool has_settled(const struct tpi_maintenance *maintenance) {
    return tpi_tally_outcomes(maintenance->heartbeat->tally) != maintenance->settled;
}

/* While tasks are in progress something may be settled at any time, of which nobody tells. */
static int64_t groups_at(const struct tpi_maintenance *maintenance) {
    bool busy =
        atomic_load(&maintenance->heartbeat->life->in_progress) != 0 || tpi_queue_is_held(maintenance->queue);
    return busy || maintenance->groups || has_settled(maintenance) ? maintenance->groups_at : INT64_MAX;
}

static tp_status ask_end(tp_conn *conn, void *arg) {
    struct tpi_maintenance *maintenance = arg;
    tp_status status = tp_groups_end(conn, NULL);
    maintenance->groups = status != TP_NONE;
    return status == TP_CONFLICT || status == TP_TIMEOUT ? TP_OK : status; /* others end the same groups */
}

static void end_groups(struct tpi_maintenance *maintenance) {
    int64_t began = tpi_clock_mono_ms(), settled = tpi_tally_outcomes(maintenance->heartbeat->tally);
    bool rests = settled == maintenance->settled;
    maintenance->groups_at = began + GROUPS_EVERY_MS;
    if (rests && !maintenance->groups) return;
    tp_status status = tpi_session_try(maintenance->session, ask_end, maintenance);
    if (status >= TP_OK) maintenance->settled = settled;
    /* At most a tenth of the time is spent on it. */
    int64_t took = tpi_clock_mono_ms() - began;
    maintenance->groups_at = began + took * 10 + (rests ? GROUPS_REST_MS : GROUPS_EVERY_MS);
    tpi_session_report_once(maintenance->session, status, &maintenance->end_failed);
}

/* ---- Gates with tokens -----------------------------------------------------------------------------------
 */

static int64_t tokens_at(const struct tpi_maintenance *maintenance) {
    bool any = tpi_gates_may_have_tokens(maintenance->session->sessions->env);
    return any ? maintenance->tokens_at : INT64_MAX;
}

static tp_status ask_tokens(tp_conn *conn, void *arg) {
    struct tpi_maintenance *maintenance = arg;
    tp_status status = tpi_gates_give_tokens(conn, &maintenance->wait_ms);
    return status == TP_CONFLICT || status == TP_TIMEOUT ? TP_OK : status; /* others are at the same gates */
}

static void give_tokens(struct tpi_maintenance *maintenance) {
    maintenance->wait_ms = -1;
    tp_status status = tpi_session_try(maintenance->session, ask_tokens, maintenance);
    int64_t wait = maintenance->wait_ms;
    if (status != TP_OK || wait < 0 || wait > TOKENS_EVERY_MS) wait = TOKENS_EVERY_MS;
    if (wait < TOKENS_LEAST_MS) wait = TOKENS_LEAST_MS;
    maintenance->tokens_at = tpi_clock_mono_ms() + wait;
    tpi_session_report_once(maintenance->session, status, &maintenance->tokens_failed);
}

/* ---- Deleting what killed runs left of their progress -------------------------------------------------- */

static int64_t forget_at(const struct tpi_maintenance *maintenance) {
    return maintenance->forget_at;
}

static tp_status ask_forget(tp_conn *conn, void *arg) {
    (void)arg;
    return tpi_progress_forget(conn);
}

static void forget(struct tpi_maintenance *maintenance) {
    tp_status status = tpi_session_try(maintenance->session, ask_forget, NULL);
    maintenance->forget_at = tpi_clock_mono_ms() + FORGET_EVERY_MS;
    tpi_session_report_once(maintenance->session, status, &maintenance->forget_failed);
}

/* ---- The table ----------------------------------------------------------------------------------------- */

/* In this order when several are due. */
static const struct {
    int64_t (*next)(const struct tpi_maintenance *maintenance); /* monotonic; INT64_MAX: never */
    void (*run)(struct tpi_maintenance *maintenance);
} duties[] = {{heartbeat_at, send_heartbeat},
              {schedule_at, tpi_maintenance_fire},
              {tokens_at, give_tokens},
              {groups_at, end_groups},
              {clean_at, clean},
              {forget_at, forget}};

enum { DUTIES = sizeof duties / sizeof duties[0] };

void tpi_maintenance_init(struct tpi_maintenance *maintenance, struct tpi_heartbeat *heartbeat,
                          struct tpi_queue *queue, struct tpi_session *session, bool schedules) {
    int64_t now = tpi_clock_mono_ms();
    *maintenance = (struct tpi_maintenance){.heartbeat = heartbeat, .queue = queue, .session = session};
    maintenance->schedule_at = schedules ? now : INT64_MAX;
    maintenance->tokens_at = now;
    maintenance->clean_at = now + tpi_session_random(session, CLEAN_FIRST_MS);
    maintenance->forget_at = now + tpi_session_random(session, FORGET_EVERY_MS);
}

int64_t tpi_maintenance_next(const struct tpi_maintenance *maintenance) {
    int64_t first = INT64_MAX;
    for (size_t i = 0; i < DUTIES; i++)
        if (duties[i].next(maintenance) < first) first = duties[i].next(maintenance);
    return first;
}

void tpi_maintenance_do(struct tpi_maintenance *maintenance) {
    struct tpi_session *session = maintenance->session;
    int64_t now = tpi_clock_mono_ms();
    unsigned tries = session->tries;
    for (size_t i = 0; i < DUTIES && !session->broken; i++)
        if (now >= duties[i].next(maintenance)) duties[i].run(maintenance);
    /* That a duty went well does not end a row of claims that did not, nor the other way about. */
    if (!session->broken) session->tries = tries;
}
