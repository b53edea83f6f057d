/* An enqueue in this process wakes who claims, and says which tasks came, so that no poll is waited for. */
#include "worker/wakeup.h"

/* The worker's own text, which lives as long as it; NULL: not one of its handlers. */
static const char *own_name(const struct tpi_wakeup *wakeup, const char *name) {
    const struct tpi_handler *handler = name ? tpi_handler_find(wakeup->handlers, name) : NULL;
    return handler ? handler->name : NULL;
}

static bool wants(const struct tpi_arrival *arrival, void *arg) {
    return !arrival->handler || own_name(arg, arrival->handler);
}

static void wake(const struct tpi_arrival *arrival, void *arg) {
    struct tpi_wakeup *wakeup = arg;
    const char *handler = own_name(wakeup, arrival->handler);
    pthread_mutex_lock(&wakeup->queue->lock);
    bool first = !wakeup->woken;
    bool same = handler == wakeup->arrival.handler && arrival->priority == wakeup->arrival.priority;
    wakeup->arrival = (struct tpi_arrival){first || same ? handler : NULL, arrival->priority};
    wakeup->woken = true;
    tpi_signal_all(&wakeup->queue->room);
    pthread_mutex_unlock(&wakeup->queue->lock);
}

void tpi_wakeup_init(struct tpi_wakeup *wakeup) {
    wakeup->wake = (struct tpi_wake){.wants = wants, .wake = wake, .arg = wakeup};
}

void tpi_wakeup_now(struct tpi_wakeup *wakeup) {
    wake(&(struct tpi_arrival){NULL, 0}, wakeup);
}

bool tpi_wakeup_is_set(const struct tpi_wakeup *wakeup) {
    return wakeup->woken;
}

bool tpi_wakeup_take(struct tpi_wakeup *wakeup, struct tpi_arrival *arrival) {
    bool woken = wakeup->woken;
    *arrival = woken ? wakeup->arrival : (struct tpi_arrival){NULL, 0};
    wakeup->woken = false;
    return woken;
}
