/* Events on their way to the owner: copied, kept in order, and handed to on_event one at a time by a thread
 * of their own, so that nobody who works waits for on_event. There is room for so many bytes; what comes
 * beyond that is counted, and the count is an event of its own as soon as on_event has taken all that waited.
 */
#ifndef TPI_WORKER_NOTIFY_H
#define TPI_WORKER_NOTIFY_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "taskpool.h"
#include "worker/lifetime.h"

struct tpi_event;

enum { TPI_TEXT_SIZE = 600 }; /* a text that is kept, cut to this */

struct tpi_notify {
    struct tpi_lifetime *life; /* whose thread it is; for tpi_lifetime_here */
    tp_event_fn fn;            /* NULL: nobody gets events */
    void *arg;
    pthread_t thread;
    bool threaded; /* the thread is there. Changes only while no other thread of the worker is */

    pthread_mutex_t lock; /* guards the rest; never held while fn runs */
    pthread_cond_t changed;
    struct tpi_event *first, *last;
    size_t bytes;     /* of those that wait */
    uint64_t dropped; /* since on_event last got their number */
    uint64_t dropped_in_all;
    bool ending, ended;
};

/* How many bytes of events may wait. Only tests change it. */
extern size_t tpi_notify_most;

/* False: no memory for its lock. */
bool tpi_notify_init(struct tpi_notify *notify, struct tpi_lifetime *life, tp_event_fn fn, void *arg);
void tpi_notify_free(struct tpi_notify *notify);
TP_CHECKED tp_status tpi_notify_start(struct tpi_notify *notify);
/* Never waits. Without the thread, in tp_worker_step, on_event is called here and now. text may be NULL. */
void tpi_notify_send(struct tpi_notify *notify, tp_event event, const tp_task *task, const char *text);
/* Once nobody sends any more: waits until all were delivered, at most until the monotonic time; those that
 * wait then are dropped. False: on_event has not returned yet; to be called again. */
bool tpi_notify_end(struct tpi_notify *notify, int64_t until_ms);
uint64_t tpi_notify_dropped(struct tpi_notify *notify);

#endif
