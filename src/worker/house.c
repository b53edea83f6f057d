/* What the claiming thread does now and then besides: it fires schedules, deletes settled rows that are past
 * their time, and tells the pool that this worker is there (heartbeat.c). None of it may keep the worker from
 * its tasks. */
#include "worker/claimer.h"

#include "base/clock.h"

enum {
    CLEAN_FIRST_MS = 2000,  /* processes that start together do not clean together */
    CLEAN_EVERY_MS = 60000, /* a whole chore the sooner again */
    CLEAN_ROWS = 500,
    SCHEDULE_EVERY_MS = 5000, /* somebody may have added a sooner one */
};

void tpi_house_init(struct tpi_house *house, struct tp_worker *worker, struct tpi_line *line) {
    *house = (struct tpi_house){.worker = worker, .line = line};
    int64_t now = tpi_clock_mono_ms();
    house->schedule_at = worker->options.schedules ? now : INT64_MAX;
    house->clean_at = now + tpi_line_random(line, CLEAN_FIRST_MS);
}

int64_t tpi_house_next(const struct tpi_house *house) {
    int64_t tell_at = tpi_heartbeat_next(house->worker);
    int64_t next = tell_at < house->clean_at ? tell_at : house->clean_at;
    return next < house->schedule_at ? next : house->schedule_at;
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
    tpi_line_tell_once(house->line, status, &house->fire_failed);
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
    tpi_line_tell_once(house->line, status, &house->clean_failed);
}

void tpi_house_do(struct tpi_house *house) {
    int64_t now = tpi_clock_mono_ms();
    unsigned tries = house->line->tries;
    if (house->line->broken) return;
    if (now >= tpi_heartbeat_next(house->worker)) (void)tpi_heartbeat_send(house->line);
    if (now >= house->schedule_at && !house->line->broken) tpi_house_fire(house);
    if (now >= house->clean_at && !house->line->broken) clean(house);
    /* That a chore went well does not end a row of claims that did not, nor the other way about. */
    if (!house->line->broken) house->line->tries = tries;
}
