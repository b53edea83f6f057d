/* Keeps this worker's row in the table of workers up to date: every ten seconds, at the stop, and until its
 * last task has ended. The dispatcher writes it; while the dispatcher waits for the database, a thread with
 * no other duty does. Under plan hold it also reads the other workers' rows: after one that held tasks has
 * died, tasks are claimed by leases for a while. */
#include "worker/heartbeat.h"
#include "ops/for_workers.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/process_name.h"
#include "base/uuid.h"

enum {
    DEATH_MATTERS_MS = 960000, /* 15 minutes from when it was taken for dead */
    GONE_MAX = 16,
};

int64_t tpi_heartbeat_every_ms = 10000;

/* ---- Who it is --------------------------------------------------------------------------------------- */

/* Workers' ids end in twelve digits for the place in which their process number means something. */
static const char *place_of(const char *id) {
    return id + TP_ID_SIZE - TPI_PID_SPACE_SIZE;
}

static void make_id(char id[TP_ID_SIZE]) {
    char pid_space[TPI_PID_SPACE_SIZE];
    tpi_uuid_random(id);
    if (tpi_process_pid_space(pid_space))
        memcpy(id + TP_ID_SIZE - TPI_PID_SPACE_SIZE, pid_space, TPI_PID_SPACE_SIZE);
}

void tpi_heartbeat_begin(struct tpi_heartbeat *beat) {
    const struct tpi_handler_table *handlers = &beat->claims->handlers;
    make_id(beat->id);
    tpi_process_name(beat->who);
    if (gethostname(beat->host, sizeof beat->host - 1) != 0) beat->host[0] = '\0';
    beat->handlers[0] = '\0';
    for (size_t i = 0; i < handlers->count; i++) {
        size_t used = strlen(beat->handlers), length = strlen(handlers->names[i]);
        if (used + length + 2 > sizeof beat->handlers) break;
        if (used) beat->handlers[used++] = ' ';
        memcpy(beat->handlers + used, handlers->names[i], length + 1);
    }
    tpi_heartbeat_hurry(beat);
}

void tpi_heartbeat_hurry(struct tpi_heartbeat *beat) {
    atomic_store(&beat->due, tpi_clock_mono_ms());
}

int64_t tpi_heartbeat_next(const struct tpi_heartbeat *beat) {
    return atomic_load(&beat->due);
}

/* ---- Who else is there ------------------------------------------------------------------------------- */

struct looking {
    const struct tpi_heartbeat *beat;
    bool hold_died;
    size_t gone_count;
    char gone[GONE_MAX][TP_ID_SIZE];
};

/* One whose process is gone need not be waited for. Another machine, another container or a boot before this
 * may have the same host name, but its process numbers say nothing here: the ids tell such places apart, and
 * those whose place is not known differ by chance. */
static bool process_is_gone(const struct tpi_heartbeat *beat, const tp_worker_row *other) {
    if (!beat->host[0] || strcmp(other->host, beat->host) != 0 || other->pid <= 0) return false;
    if (strcmp(place_of(other->id), place_of(beat->id)) != 0) return false;
    return other->pid != getpid() && kill((pid_t)other->pid, 0) == -1 && errno == ESRCH;
}

static void look_at(const tp_worker_row *other, void *arg) {
    struct looking *looking = arg;
    bool died = strcmp(other->state, "died") == 0;
    bool lives = strcmp(other->state, "running") == 0 || strcmp(other->state, "stopping") == 0;
    if (lives && looking->gone_count < GONE_MAX && process_is_gone(looking->beat, other)) {
        memcpy(looking->gone[looking->gone_count++], other->id, TP_ID_SIZE);
        died = true;
    }
    if (died && strcmp(other->plan, "hold") == 0 && other->seen_ago_ms < DEATH_MATTERS_MS)
        looking->hold_died = true;
}

static tp_status ask_look(tp_conn *conn, void *arg) {
    struct looking *looking = arg;
    tp_status status = tpi_worker_each_lately(conn, DEATH_MATTERS_MS, look_at, looking);
    for (size_t i = 0; i < looking->gone_count && status >= 0; i++)
        status = tpi_worker_died(conn, looking->gone[i]);
    return status;
}

/* ---- Sending ----------------------------------------------------------------------------------------- */

static tp_status ask_send(tp_conn *conn, void *arg) {
    struct tpi_heartbeat *beat = arg;
    tp_worker_info info = TP_WORKER_INFO_INIT;
    /* Before the look, whose figures are then those of a worker that stops. */
    bool stopping = tpi_lifetime_stopping(beat->life);
    tp_status status = beat->look(beat->worker, &info);
    if (status != TP_OK) return status;
    tp_worker_row row = {.name = beat->options->name ? beat->options->name : beat->who,
                         .host = beat->host,
                         .handlers = beat->handlers,
                         .plan = beat->claims->hold_wanted ? "hold" : tp_conn_about(conn)->plan,
                         .state = beat->ended ? "ended"
                                  : stopping  ? "stopping"
                                              : "running",
                         .pid = (int32_t)getpid(),
                         .threads = info.threads,
                         .running = (int32_t)info.running,
                         .claimed = (int64_t)info.claimed,
                         .done = (int64_t)info.done,
                         .failed = (int64_t)info.failed};
    memcpy(row.id, beat->id, sizeof beat->id);
    return tpi_worker_heartbeat(conn, &row, &beat->news);
}

/* The same end as by tp_worker_stop. */
static void heed_drain(struct tpi_heartbeat *beat) {
    char text[TPI_TEXT_SIZE];
    if (!beat->news.drain || beat->drained) return;
    beat->drained = true;
    snprintf(text, sizeof text, "asked to end by %s", beat->news.drain_who);
    tpi_notify_send(beat->notify, TP_EVENT_DRAIN, NULL, text);
    (void)tpi_lifetime_stop(beat->life);
}

/* Under the lock. */
static tp_status send(struct tpi_heartbeat *beat, struct tpi_session *session) {
    int64_t every_ms = tpi_heartbeat_every_ms;
    /* Before it is sent, so that a stop that comes meanwhile is sent at once. */
    int64_t due = tpi_clock_mono_ms() + every_ms - tpi_session_random(session, every_ms / 10);
    atomic_store(&beat->due, due);
    tp_status status = tpi_session_try(session, ask_send, beat);
    /* One that failed may have waited for long: the next comes after a while all the same. */
    if (status < 0) atomic_compare_exchange_strong(&beat->due, &due, tpi_clock_mono_ms() + every_ms);
    if (status >= 0) {
        heed_drain(beat);
        tpi_tally_write(beat->tally, session, beat->id, beat->news.now, beat->ended);
    }
    if (beat->claims->hold_wanted) {
        struct looking looking = {.beat = beat};
        if (status >= 0) status = tpi_session_try(session, ask_look, &looking);
        /* One that may not see the others holds as if there were none. */
        if (!tpi_session_may_retry(session, status)) tpi_queue_hold(beat->queue, !looking.hold_died);
    }
    tpi_session_report_once(session, status, &beat->failed);
    return status;
}

tp_status tpi_heartbeat_send(struct tpi_heartbeat *beat, struct tpi_session *session) {
    tp_status status = TP_OK;
    /* The other thread is at it, and may hang: it is left alone. */
    if (pthread_mutex_trylock(&beat->lock) != 0) {
        atomic_store(&beat->due, tpi_clock_mono_ms() + tpi_heartbeat_every_ms);
        return TP_OK;
    }
    if (!beat->ended) status = send(beat, session);
    pthread_mutex_unlock(&beat->lock);
    return status;
}

/* Waits until the dispatcher has had its time to send one; without a task in progress it is not late. False:
 * the last task has ended. */
static bool await_late(struct tpi_heartbeat *beat) {
    struct tpi_lifetime *life = beat->life;
    pthread_mutex_lock(&life->lock);
    while (!tpi_lifetime_over(life)) {
        int64_t now = tpi_clock_mono_ms(), grace = tpi_heartbeat_every_ms / 5;
        int64_t late = tpi_heartbeat_next(beat) + grace;
        if (atomic_load(&life->in_progress) && now >= late) break;
        tpi_signal_wait(&life->changed, now < late ? late : now + grace);
    }
    bool more = !tpi_lifetime_over(life);
    pthread_mutex_unlock(&life->lock);
    return more;
}

void *tpi_heartbeat_main(void *arg) {
    struct tpi_heartbeat *beat = arg;
    struct tpi_session session;
    tpi_session_init(&session, beat->sessions, "heartbeat");
    while (await_late(beat)) {
        (void)tpi_heartbeat_send(beat, &session);
        tpi_session_drop(&session); /* a lost one may hold locks that the dispatcher waits for */
    }
    tpi_session_close(&session);
    return NULL;
}

tp_status tpi_heartbeat_end(struct tpi_heartbeat *beat, struct tpi_session *session) {
    pthread_mutex_lock(&beat->lock);
    beat->ended = true;
    tp_status status = send(beat, session);
    pthread_mutex_unlock(&beat->lock);
    return status;
}
