/* The list of workers in this process that an enqueue wakes. See wake.h. */
#include "base/wake.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct tpi_wake *first;   /* under lock */
static atomic_uint listen_count; /* entries of the list */

/* In the child of a fork: the workers are the parent's. */
static void forget_all(void) {
    (void)pthread_mutex_init(&lock, NULL);
    first = NULL;
    atomic_store(&listen_count, 0);
}

__attribute__((constructor)) static void watch_forks(void) {
    (void)pthread_atfork(NULL, NULL, forget_all);
}

void tpi_wake_add(struct tpi_wake *wake) {
    pthread_mutex_lock(&lock);
    wake->next = first;
    first = wake;
    atomic_fetch_add(&listen_count, 1);
    pthread_mutex_unlock(&lock);
}

void tpi_wake_remove(struct tpi_wake *wake) {
    pthread_mutex_lock(&lock);
    for (struct tpi_wake **at = &first; *at; at = &(*at)->next) {
        if (*at != wake) continue;
        *at = wake->next;
        atomic_fetch_sub(&listen_count, 1);
        break;
    }
    pthread_mutex_unlock(&lock);
}

void tpi_wake_signal(const struct tpi_arrival *arrival) {
    if (atomic_load(&listen_count) == 0) return;
    pthread_mutex_lock(&lock);
    for (struct tpi_wake *wake = first; wake; wake = wake->next)
        if (wake->wants(arrival, wake->arg)) wake->wake(arrival, wake->arg);
    pthread_mutex_unlock(&lock);
}
