/* Records a worker's events and lets a test wait for them instead of sleeping; notes calls that overlap, and
 * tasks whose first event is not CLAIMED. */
#ifndef TESTS_WORKER_WATCH_H
#define TESTS_WORKER_WATCH_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "taskpool.h"

enum { WATCH_TASKS = 1024 };

struct watch {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int counts[TP_EVENT_COUNT];
    char texts[TP_EVENT_COUNT][600]; /* the last text of each */
    char errors[4096];               /* the texts of all TP_EVENT_ERROR, as far as there is room */
    tp_worker *stop_at;              /* NULL, or: stopped by the first event that is stop_on */
    tp_event stop_on;
    atomic_int inside; /* calls of watch_event that run */
    atomic_int overlaps;
    int early;                           /* events about a task before its CLAIMED */
    char known[WATCH_TASKS][TP_ID_SIZE]; /* tasks that were CLAIMED */
    int known_count;
};

void watch_open(struct watch *watch);
void watch_close(struct watch *watch);
/* A tp_event_fn; arg is the watch. */
void watch_event(tp_event event, const tp_task *task, const char *text, void *arg);
/* Waits until the event was told count times; false after five minutes. */
bool watch_wait(struct watch *watch, tp_event event, int count);
/* The same for a TP_EVENT_ERROR whose text has these words, whatever else was told before it. */
bool watch_wait_error(struct watch *watch, const char *words);
int watch_count(struct watch *watch, tp_event event);

/* A gate that handlers wait at until the test opens it, and that tells the test how many have come. */
struct gate {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int arrived;
    bool is_open;
};

void gate_init(struct gate *gate);
/* Both wait for five minutes at most; false: so long. */
void gate_pass(struct gate *gate);
bool gate_wait_arrived(struct gate *gate, int count);
void gate_open(struct gate *gate);

#endif
