/* The queue of events and the thread that calls on_event. See notify.h. */
#include "worker/notify.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cond.h"
#include "base/trace.h"
#include "base/utf8.h"

size_t tpi_notify_most = 4194304;

static const char *const names[] = {
#define EVENT_NAME(id, name) name,
    TP_EVENT_LIST(EVENT_NAME)
#undef EVENT_NAME
};

const char *tp_event_name(tp_event event) {
    return (unsigned)event < TP_EVENT_COUNT ? names[event] : "unknown";
}

/* One that waits; the texts follow it in the same memory. */
struct tpi_event {
    struct tpi_event *next;
    size_t size;
    tp_event event;
    bool of_task;
    tp_task task;
    const char *text;
};

bool tpi_notify_init(struct tpi_notify *notify, struct tpi_lifetime *life, tp_event_fn fn, void *arg) {
    *notify = (struct tpi_notify){.life = life, .fn = fn, .arg = arg};
    return tpi_cond_init(&notify->changed) && pthread_mutex_init(&notify->lock, NULL) == 0;
}

void tpi_notify_free(struct tpi_notify *notify) {
    pthread_mutex_destroy(&notify->lock);
    pthread_cond_destroy(&notify->changed);
}

uint64_t tpi_notify_dropped(struct tpi_notify *notify) {
    pthread_mutex_lock(&notify->lock);
    uint64_t dropped = notify->dropped_in_all;
    pthread_mutex_unlock(&notify->lock);
    return dropped;
}

/* ---- Sending ----------------------------------------------------------------------------------------- */

/* X(member of tp_task). Without params: its handler's thread may be about to give them back. */
#define TASK_TEXTS(X) X(id) X(handler) X(biz_key) X(dedup_key) X(reason) X(state) X(pool) X(owner)
#define TASK_NUMBERS(X)                                                                                      \
    X(shard) X(priority) X(failures) X(max_failures) X(due_at) X(created_at) X(modified_at) X(settled_at)

static size_t size_of(const char *text) {
    return text ? strlen(text) + 1 : 1;
}

static const char *put_text(char **at, const char *text) {
    size_t size = size_of(text);
    char *copy = memcpy(*at, text ? text : "", size);
    *at += size;
    return copy;
}

/* NULL: no memory. */
static struct tpi_event *copy_event(tp_event event, const tp_task *task, const char *text) {
    size_t size = sizeof(struct tpi_event) + size_of(text);
#define ADD_SIZE(member) size += task ? size_of(task->member) : 0;
    TASK_TEXTS(ADD_SIZE)
#undef ADD_SIZE
    struct tpi_event *new = calloc(1, size);
    if (!new) return NULL;
    char *at = (char *)(new + 1);
    new->size = size;
    new->event = event;
    new->of_task = task != NULL;
    new->text = put_text(&at, text);
    if (!task) return new;
#define PUT_TEXT(member) new->task.member = put_text(&at, task->member);
    TASK_TEXTS(PUT_TEXT)
#undef PUT_TEXT
#define PUT_NUMBER(member) new->task.member = task->member;
    TASK_NUMBERS(PUT_NUMBER)
#undef PUT_NUMBER
    return new;
}

static void call(const struct tpi_notify *notify, struct tpi_event *event) {
    notify->fn(event->event, event->of_task ? &event->task : NULL, event->text, notify->arg);
}

/* Under the lock. Once one was dropped the others go the same way until on_event has taken all that wait, so
 * that the count of missed events comes where they are missing. False: there is no room. */
static bool push(struct tpi_notify *notify, struct tpi_event *event) {
    if (!event || notify->dropped || notify->bytes + event->size > tpi_notify_most) {
        notify->dropped++;
        notify->dropped_in_all++;
        return false;
    }
    if (notify->last)
        notify->last->next = event;
    else
        notify->first = event;
    notify->last = event;
    notify->bytes += event->size;
    pthread_cond_broadcast(&notify->changed);
    return true;
}

void tpi_notify_send(struct tpi_notify *notify, tp_event event, const tp_task *task, const char *text) {
    char cut[TPI_TEXT_SIZE];
    tpi_trace(TPI_TRACE_WORKER, "event %s task=%s %s", tp_event_name(event), task ? task->id : "-",
              text ? text : "");
    if (!notify->fn) return;
    tpi_utf8_copy(text ? text : "", cut, sizeof cut);
    struct tpi_event *new = copy_event(event, task, cut);
    bool waits = false;
    if (notify->threaded || !new) {
        pthread_mutex_lock(&notify->lock);
        waits = push(notify, new);
        pthread_mutex_unlock(&notify->lock);
    } else {
        call(notify, new);
    }
    if (!waits) free(new);
}

/* ---- Delivering -------------------------------------------------------------------------------------- */

/* Under the lock; NULL: none waits. */
static struct tpi_event *pop(struct tpi_notify *notify) {
    struct tpi_event *event = notify->first;
    if (!event) return NULL;
    notify->first = event->next;
    if (!notify->first) notify->last = NULL;
    notify->bytes -= event->size;
    return event;
}

/* Waits for something to deliver: an event, or how many could not be. False: nothing can come any more. */
static bool await(struct tpi_notify *notify, struct tpi_event **event, uint64_t *dropped) {
    pthread_mutex_lock(&notify->lock);
    while (!notify->first && !notify->dropped && !notify->ending)
        pthread_cond_wait(&notify->changed, &notify->lock);
    *event = pop(notify);
    *dropped = *event ? 0 : notify->dropped;
    if (!*event) notify->dropped = 0;
    notify->ended = !*event && !*dropped;
    if (notify->ended) pthread_cond_broadcast(&notify->changed);
    bool more = !notify->ended;
    pthread_mutex_unlock(&notify->lock);
    return more;
}

static void *deliver(void *arg) {
    struct tpi_notify *notify = arg;
    struct tpi_event *event = NULL;
    uint64_t dropped = 0;
    char text[TPI_TEXT_SIZE];
    tpi_lifetime_set_here(notify->life);
    while (await(notify, &event, &dropped)) {
        if (event) {
            call(notify, event);
            free(event);
            continue;
        }
        snprintf(text, sizeof text,
                 "%" PRIu64 " events could not be delivered: on_event had not returned in time", dropped);
        notify->fn(TP_EVENT_ERROR, NULL, text, notify->arg);
    }
    return NULL;
}

tp_status tpi_notify_start(struct tpi_notify *notify) {
    if (!notify->fn) return TP_OK;
    int code = pthread_create(&notify->thread, NULL, deliver, notify);
    if (code != 0)
        return tpi_error(TP_NOMEM, "tp_worker_start: the system gives no more threads (error %d)", code);
    notify->threaded = true;
    return TP_OK;
}

bool tpi_notify_end(struct tpi_notify *notify, int64_t until_ms) {
    if (!notify->threaded) return true;
    pthread_mutex_lock(&notify->lock);
    notify->ending = true;
    pthread_cond_broadcast(&notify->changed);
    while (!notify->ended)
        if (!tpi_cond_wait(&notify->changed, &notify->lock, until_ms)) break;
    bool ended = notify->ended;
    for (struct tpi_event *event; !ended && (event = pop(notify)) != NULL; free(event)) {
        notify->dropped++;
        notify->dropped_in_all++;
    }
    pthread_mutex_unlock(&notify->lock);
    if (!ended) return false;
    pthread_join(notify->thread, NULL);
    notify->threaded = false;
    return true;
}
