/* What the claiming thread does now and then besides: it fires schedules, deletes settled rows that are past
 * their time, and tells the pool that this worker is there. None of it may keep the worker from its tasks. */
#include "worker/claimer.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/uuid.h"
#include "base/who.h"

enum {
    TELL_EVERY_MS = 10000,  /* that this worker is there */
    CLEAN_FIRST_MS = 2000,  /* processes that start together do not clean together */
    CLEAN_EVERY_MS = 60000, /* a whole chore the sooner again */
    CLEAN_ROWS = 500,
    SCHEDULE_EVERY_MS = 5000,  /* somebody may have added a sooner one */
    DEATH_MATTERS_MS = 960000, /* 15 minutes from when it was taken for dead */
    GONE_MAX = 16,
};

void tpi_house_init(struct tpi_house *house, struct tp_worker *worker, struct tpi_line *line) {
    *house = (struct tpi_house){.worker = worker, .line = line};
    int64_t now = tpi_clock_mono_ms();
    tpi_uuid_random(house->id);
    tpi_who(house->who);
    if (gethostname(house->host, sizeof house->host - 1) != 0) house->host[0] = '\0';
    for (size_t i = 0; i < worker->handler_count; i++) {
        size_t used = strlen(house->handlers), length = strlen(worker->handlers[i].name);
        if (used + length + 2 > sizeof house->handlers) break;
        if (used) house->handlers[used++] = ' ';
        memcpy(house->handlers + used, worker->handlers[i].name, length + 1);
    }
    house->tell_at = now;
    house->schedule_at = worker->options.schedules ? now : INT64_MAX;
    house->clean_at = now + tpi_line_random(line, CLEAN_FIRST_MS);
}

int64_t tpi_house_next(const struct tpi_house *house) {
    int64_t next = house->tell_at < house->clean_at ? house->tell_at : house->clean_at;
    return next < house->schedule_at ? next : house->schedule_at;
}

/* Told once, and again when it went well in between. */
static void heard(struct tpi_house *house, bool *known, tp_status status) {
    if (status >= 0) *known = false;
    if (status >= 0 || *known || tpi_line_hope(house->line, status)) return;
    *known = true;
    tpi_notice_send(house->worker, TP_EVENT_ERROR, NULL, tp_last_error()->text);
}

/* ---- Schedules and old rows ---------------------------------------------------------------------------- */

static tp_status ask_fire(tp_conn *conn, void *arg) {
    struct tpi_house *house = arg;
    return tp_schedule_fire(conn, &house->fired, &house->wait_ms);
}

void tpi_house_fire(struct tpi_house *house) {
    house->fired = 0;
    house->wait_ms = -1;
    tp_status status = tpi_line_try(house->line, ask_fire, house);
    /* A schedule that cannot be read is a failure too, and does not hold up the others. */
    int64_t wait =
        house->wait_ms < 0 || house->wait_ms > SCHEDULE_EVERY_MS ? SCHEDULE_EVERY_MS : house->wait_ms;
    house->schedule_at = tpi_clock_mono_ms() + wait + 1;
    heard(house, &house->fire_failed, status);
    if (house->fired) tpi_worker_wake(house->worker);
}

static tp_status ask_clean(tp_conn *conn, void *arg) {
    struct tpi_house *house = arg;
    return tp_keep_house(conn, CLEAN_ROWS, &house->deleted);
}

static void clean(struct tpi_house *house) {
    house->deleted = 0;
    tp_status status = tpi_line_try(house->line, ask_clean, house);
    bool more = status >= 0 && house->deleted >= CLEAN_ROWS;
    int64_t pause = more ? CLEAN_EVERY_MS / 60 : CLEAN_EVERY_MS / 2;
    house->clean_at = tpi_clock_mono_ms() + pause + tpi_line_random(house->line, pause);
    heard(house, &house->clean_failed, status);
}

/* ---- Telling of this worker ---------------------------------------------------------------------------- */

struct looking {
    struct tpi_house *house;
    bool hold_died;
    size_t gone_count;
    char gone[GONE_MAX][TP_ID_SIZE];
};

/* One of this machine whose process is gone need not be waited for. */
static bool process_is_gone(const struct tpi_house *house, const tp_presence *other) {
    if (!house->host[0] || strcmp(other->host, house->host) != 0 || other->pid <= 0) return false;
    return other->pid != getpid() && kill((pid_t)other->pid, 0) == -1 && errno == ESRCH;
}

static void look_at(const tp_presence *other, void *arg) {
    struct looking *looking = arg;
    bool died = strcmp(other->state, "died") == 0;
    if (strcmp(other->state, "running") == 0 && looking->gone_count < GONE_MAX &&
        process_is_gone(looking->house, other)) {
        memcpy(looking->gone[looking->gone_count++], other->id, TP_ID_SIZE);
        died = true;
    }
    if (died && strcmp(other->plan, "hold") == 0 && other->seen_ago_ms < DEATH_MATTERS_MS)
        looking->hold_died = true;
}

static tp_status ask_look(tp_conn *conn, void *arg) {
    struct looking *looking = arg;
    tp_status status = tp_presence_each(conn, look_at, looking);
    for (size_t i = 0; i < looking->gone_count && status >= 0; i++)
        status = tp_presence_gone(conn, looking->gone[i]);
    return status;
}

static tp_status ask_tell(tp_conn *conn, void *arg) {
    struct tpi_house *house = arg;
    tp_worker_info info;
    tp_worker_look(house->worker, &info);
    tp_presence presence = {.size = sizeof presence,
                            .name = house->worker->options.name ? house->worker->options.name : house->who,
                            .host = house->host,
                            .handlers = house->handlers,
                            .plan = tpi_hold_wanted(house->worker) ? "hold" : tp_conn_about(conn)->plan,
                            .state = house->state,
                            .pid = (int32_t)getpid(),
                            .threads = info.threads,
                            .running = (int32_t)info.running,
                            .claimed = (int64_t)info.claimed,
                            .done = (int64_t)info.done,
                            .failed = (int64_t)info.failed};
    memcpy(presence.id, house->id, sizeof house->id);
    return tp_presence_tell(conn, &presence);
}

tp_status tpi_house_tell(struct tpi_house *house, const char *state) {
    struct looking looking = {.house = house};
    house->state = state;
    tp_status status = tpi_line_try(house->line, ask_tell, house);
    if (tpi_hold_wanted(house->worker)) {
        if (status >= 0) status = tpi_line_try(house->line, ask_look, &looking);
        /* One that may not see the others holds as if there were none. */
        if (!tpi_line_hope(house->line, status)) tpi_hold_set(house->worker, !looking.hold_died);
    }
    house->tell_at = tpi_clock_mono_ms() + TELL_EVERY_MS - tpi_line_random(house->line, TELL_EVERY_MS / 10);
    heard(house, &house->tell_failed, status);
    return status;
}

void tpi_house_do(struct tpi_house *house) {
    int64_t now = tpi_clock_mono_ms();
    unsigned tries = house->line->tries;
    if (house->line->broken) return;
    if (now >= house->tell_at) (void)tpi_house_tell(house, "running");
    if (now >= house->schedule_at && !house->line->broken) tpi_house_fire(house);
    if (now >= house->clean_at && !house->line->broken) clean(house);
    /* That a chore went well does not end a row of claims that did not, nor the other way about. */
    if (!house->line->broken) house->line->tries = tries;
}
