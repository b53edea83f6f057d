/* See life.h. A claim is known by its token, which is a UUIDv7 and so says when it was made. */
#include "life.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOMENT(type, member) COLUMN_OF(type, struct moment, member)
static const char *event_of(const void *record, char text[RECORD_TEXT_SIZE]) {
    (void)text;
    return ((const struct moment *)record)->event;
}
static const char *who_of(const void *record, char text[RECORD_TEXT_SIZE]) {
    (void)text;
    return ((const struct moment *)record)->who;
}
static const char *owner_of(const void *record, char text[RECORD_TEXT_SIZE]) {
    (void)text;
    return ((const struct moment *)record)->owner;
}
static const char *reason_of(const void *record, char text[RECORD_TEXT_SIZE]) {
    (void)text;
    return ((const struct moment *)record)->reason;
}
const struct column life_columns[] = {
    {"AT", "at", MOMENT(TIME, at)},
    {"WHAT", "what", .shown = event_of},
    {"ATTEMPT", "attempt", MOMENT(NUMBER, attempt), .may_miss = true},
    {"WHO", "who", .shown = who_of},
    {"TOKEN", "owner", .shown = owner_of},
    {"REASON", "reason", .shown = reason_of},
    COLUMNS_END,
};

int64_t life_token_time(const char *token) {
    int64_t at = 0;

    return tp_token_time(token, &at) == TP_OK ? at : 0;
}

static struct moment *add_moment(struct life *life, int64_t at, const char *what) {
    struct moment *moment = &life->moments[life->count];

    if (life->count == sizeof life->moments / sizeof life->moments[0]) {
        life->cut = true;
        return moment - 1;
    }
    life->count++;
    *moment = (struct moment){.at = at, .number = life->count};
    snprintf(moment->event, sizeof moment->event, "%s", what);
    return moment;
}

/* Each claim once. Its token was made by the clock of the worker's machine, which may be ahead of the
 * database's. */
static void add_claim(struct life *life, const char *token, int64_t latest) {
    int64_t made = life_token_time(token), at = made < latest ? made : latest;

    for (size_t i = 0; i < life->count; i++)
        if (strcmp(life->moments[i].owner, token) == 0 && strcmp(life->moments[i].event, "claimed") == 0)
            return;
    if (at) snprintf(add_moment(life, at, "claimed")->owner, TP_ID_SIZE, "%s", token);
}

static void add_event(const tp_history *event, void *arg) {
    struct life *life = arg;
    struct moment *moment;

    if (life->count >= 2 * LIFE_EVENTS_MAX) {
        life->cut = true;
        return;
    }
    if (*event->owner) add_claim(life, event->owner, event->at);
    moment = add_moment(life, event->at, event->event);
    snprintf(moment->who, sizeof moment->who, "%s", event->who);
    snprintf(moment->owner, sizeof moment->owner, "%s", event->owner);
    snprintf(moment->reason, sizeof moment->reason, "%s", event->reason);
    moment->attempt = event->attempt;
}

static int earlier(const void *a, const void *b) {
    const struct moment *one = a, *two = b;

    if (one->at != two->at) return one->at < two->at ? -1 : 1;
    return one->number < two->number ? -1 : 1;
}

/* The first is the one last heard of. */
static void take_worker(const tp_worker_row *row, void *arg) {
    struct life *life = arg;

    if (*life->worker) return;
    snprintf(life->worker, sizeof life->worker, "%s:%d %s", row->host, (int)row->pid, row->name);
    snprintf(life->worker_state, sizeof life->worker_state, "%s", row->state);
    life->worker_seen_ago_ms = row->seen_ago_ms;
}

tp_status life_read(tp_conn *conn, const tp_task *task, struct life *life) {
    tp_status status;

    life->count = 0;
    life->cut = false;
    *life->worker = '\0';
    life->now = 0;
    (void)add_moment(life, task->created_at, "enqueued");
    status = tp_history_each(conn, task->id, 0, add_event, life);
    if (status >= 0 && life_token_time(task->owner))
        status = tp_worker_of(conn, task->owner, take_worker, life);
    if (status >= 0 && strcmp(task->state, "handling") == 0) status = tp_now(conn, &life->now);
    if (status < 0) return status;
    if (*task->owner) add_claim(life, task->owner, task->settled_at ? task->settled_at : INT64_MAX);
    qsort(life->moments, life->count, sizeof *life->moments, earlier);
    if (task->settled_at && strcmp(task->state, "failed") != 0)
        snprintf(add_moment(life, task->settled_at, task->state)->owner, TP_ID_SIZE, "%s", task->owner);
    return TP_OK;
}

/* A retry takes a cancel back; nothing else does. */
const struct moment *life_asked(const struct life *life, const tp_task *task) {
    const struct moment *asked = NULL;

    for (size_t i = 0; i < life->count && strcmp(task->pool, "pending") == 0; i++) {
        if (strcmp(life->moments[i].event, "cancel") == 0) asked = &life->moments[i];
        if (strcmp(life->moments[i].event, "retried") == 0) asked = NULL;
    }
    return asked;
}
