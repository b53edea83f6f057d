/* Records events of a worker and waits for them. See watch.h. */
#include "watch.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "support/locked.h"

enum { LIMIT_S = 300 };

static void init(pthread_mutex_t *lock, pthread_cond_t *cond) {
    pthread_condattr_t attr;
    pthread_mutex_init(lock, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(cond, &attr);
    pthread_condattr_destroy(&attr);
}

static struct timespec deadline(void) {
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += LIMIT_S;
    return until;
}

void watch_open(struct watch *watch) {
    memset(watch, 0, sizeof *watch);
    init(&watch->lock, &watch->changed);
}

void watch_close(struct watch *watch) {
    pthread_cond_destroy(&watch->changed);
    pthread_mutex_destroy(&watch->lock);
}

/* Under the lock. */
static void note_error(struct watch *watch, const char *text) {
    size_t used = strlen(watch->errors);
    snprintf(watch->errors + used, sizeof watch->errors - used, "%s\n", text);
}

/* Under the lock. */
static void note_task(struct watch *watch, tp_event event, const char *id) {
    for (int i = 0; i < watch->known_count; i++)
        if (strcmp(watch->known[i], id) == 0) return;
    if (event != TP_EVENT_CLAIMED) watch->early++;
    if (watch->known_count < WATCH_TASKS) snprintf(watch->known[watch->known_count++], TP_ID_SIZE, "%s", id);
}

void watch_event(tp_event event, const tp_task *task, const char *text, void *arg) {
    struct watch *watch = arg;
    if (atomic_fetch_add(&watch->inside, 1) != 0) atomic_fetch_add(&watch->overlaps, 1);
    sched_yield(); /* so that another that may come does */
    LOCKED(&watch->lock);
    watch->counts[event]++;
    if (task) note_task(watch, event, task->id);
    snprintf(watch->texts[event], sizeof watch->texts[event], "%s", text);
    if (event == TP_EVENT_ERROR) note_error(watch, text);
    if (watch->stop_at && event == watch->stop_on) tp_worker_stop(watch->stop_at);
    pthread_cond_broadcast(&watch->changed);
    atomic_fetch_sub(&watch->inside, 1);
}

bool watch_wait(struct watch *watch, tp_event event, int count) {
    struct timespec until = deadline();
    int code = 0;
    LOCKED(&watch->lock);
    while (watch->counts[event] < count && code == 0)
        code = pthread_cond_timedwait(&watch->changed, &watch->lock, &until);
    return watch->counts[event] >= count;
}

bool watch_wait_error(struct watch *watch, const char *words) {
    struct timespec until = deadline();
    int code = 0;
    LOCKED(&watch->lock);
    while (!strstr(watch->errors, words) && code == 0)
        code = pthread_cond_timedwait(&watch->changed, &watch->lock, &until);
    return strstr(watch->errors, words) != NULL;
}

int watch_count(struct watch *watch, tp_event event) {
    LOCKED(&watch->lock);
    return watch->counts[event];
}

void gate_init(struct gate *gate) {
    memset(gate, 0, sizeof *gate);
    init(&gate->lock, &gate->changed);
}

void gate_pass(struct gate *gate) {
    struct timespec until = deadline();
    int code = 0;
    LOCKED(&gate->lock);
    gate->arrived++;
    pthread_cond_broadcast(&gate->changed);
    while (!gate->is_open && code == 0)
        code = pthread_cond_timedwait(&gate->changed, &gate->lock, &until);
}

bool gate_wait_arrived(struct gate *gate, int count) {
    struct timespec until = deadline();
    int code = 0;
    LOCKED(&gate->lock);
    while (gate->arrived < count && code == 0)
        code = pthread_cond_timedwait(&gate->changed, &gate->lock, &until);
    return gate->arrived >= count;
}

void gate_open(struct gate *gate) {
    LOCKED(&gate->lock);
    gate->is_open = true;
    pthread_cond_broadcast(&gate->changed);
}
