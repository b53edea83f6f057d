/* See loader_lock.h. */
#include "odbc/loader_lock.h"

#include <pthread.h>
#include <time.h>

enum { LONGEST_S = 1 }; /* most connects take less */

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* for what follows */
static pthread_cond_t freed;
static unsigned long holder; /* its number; 0: nobody */
static unsigned long last;

static void init(void) {
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&freed, &monotonic);
    pthread_condattr_destroy(&monotonic);
}

static struct timespec deadline(void) {
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    at.tv_sec += LONGEST_S;
    return at;
}

unsigned long tpi_loader_lock(void) {
    pthread_once(&once, init);
    struct timespec until = deadline();
    pthread_mutex_lock(&lock);
    while (holder)
        if (pthread_cond_timedwait(&freed, &lock, &until) != 0) break;
    unsigned long number = ++last;
    holder = number;
    pthread_mutex_unlock(&lock);
    return number;
}

void tpi_loader_unlock(unsigned long number) {
    pthread_mutex_lock(&lock);
    if (holder == number) {
        holder = 0;
        pthread_cond_signal(&freed);
    }
    pthread_mutex_unlock(&lock);
}
