/* The thread that reports calls without an answer: a server, or a network, that takes a call and stays
 * silent. Drivers wait as long as their own settings say, often for ever, and no other thread can end such a
 * wait; so the owner gets an event, once for each wait. No database calls here. */
#include "worker/watchdog.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/clock.h"

int64_t tpi_watchdog_limit_ms = 30000;

static _Thread_local struct tpi_wait *mine;

/* ---- The waits of this worker's threads -------------------------------------------------------------- */

void tpi_watchdog_enter(struct tpi_watchdog *watchdog, struct tpi_wait *wait) {
    *wait = (struct tpi_wait){.reported_for = 0};
    pthread_mutex_lock(&watchdog->lock);
    wait->next = watchdog->waits;
    watchdog->waits = wait;
    pthread_mutex_unlock(&watchdog->lock);
    mine = wait;
}

void tpi_watchdog_leave(struct tpi_watchdog *watchdog) {
    pthread_mutex_lock(&watchdog->lock);
    struct tpi_wait **at = &watchdog->waits;
    while (*at && *at != mine)
        at = &(*at)->next;
    if (*at) *at = mine->next;
    pthread_mutex_unlock(&watchdog->lock);
    mine = NULL;
}

/* In a thread that is not the worker's, tp_worker_step's caller, nobody looks. */
void tpi_watchdog_begin(const char *who) {
    if (!mine) return;
    atomic_store_explicit(&mine->who, who, memory_order_relaxed);
    atomic_store_explicit(&mine->since, tpi_clock_mono_ms(), memory_order_release);
}

void tpi_watchdog_end(void) {
    if (mine) atomic_store_explicit(&mine->since, 0, memory_order_release);
}

int64_t tpi_watchdog_longest(struct tpi_watchdog *watchdog) {
    int64_t longest = 0;
    pthread_mutex_lock(&watchdog->lock);
    int64_t now = tpi_clock_mono_ms();
    for (struct tpi_wait *wait = watchdog->waits; wait; wait = wait->next) {
        int64_t since = atomic_load_explicit(&wait->since, memory_order_acquire);
        if (since && now - since > longest) longest = now - since;
    }
    pthread_mutex_unlock(&watchdog->lock);
    return longest;
}

/* ---- The thread -------------------------------------------------------------------------------------- */

/* One that waits for too long and of whom nothing was reported; its text. */
static bool find_silence(struct tpi_watchdog *watchdog, char *text, size_t size) {
    bool found = false;
    pthread_mutex_lock(&watchdog->lock);
    int64_t now = tpi_clock_mono_ms();
    for (struct tpi_wait *wait = watchdog->waits; wait && !found; wait = wait->next) {
        int64_t since = atomic_load_explicit(&wait->since, memory_order_acquire);
        if (!since || since == wait->reported_for || now - since < tpi_watchdog_limit_ms) continue;
        wait->reported_for = since;
        snprintf(text, size,
                 "no answer from the database for %" PRId64
                 " s (%s); it is waited for until the driver gives up. Is the server or the network stuck? A "
                 "time limit for answers in the connection string bounds such waits",
                 (now - since) / 1000, atomic_load_explicit(&wait->who, memory_order_relaxed));
        found = true;
    }
    pthread_mutex_unlock(&watchdog->lock);
    return found;
}

void *tpi_watchdog_main(void *arg) {
    struct tpi_watchdog *watchdog = arg;
    struct tpi_lifetime *life = watchdog->life;
    char text[TPI_TEXT_SIZE];
    while (!tpi_lifetime_over(life)) {
        if (find_silence(watchdog, text, sizeof text))
            tpi_notify_send(watchdog->notify, TP_EVENT_ERROR, NULL, text);
        else
            tpi_lifetime_pause(life, tpi_watchdog_limit_ms / 6, tpi_lifetime_stopping(life));
    }
    return NULL;
}
