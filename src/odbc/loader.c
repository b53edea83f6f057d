/* See loader.h. */
#include "odbc/loader.h"

#include <pthread.h>
#include <time.h>

/* Longer than most connects take. */
enum { PATIENCE_S = 1 };

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* for what follows */
static pthread_cond_t left;
static unsigned long inside; /* the turn of who is; 0: nobody */
static unsigned long last;

static void init(void) {
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&left, &monotonic);
    pthread_condattr_destroy(&monotonic);
}

static struct timespec deadline(void) {
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    at.tv_sec += PATIENCE_S;
    return at;
}

unsigned long tpi_loader_enter(void) {
    pthread_once(&once, init);
    struct timespec until = deadline();
    pthread_mutex_lock(&lock);
    while (inside)
        if (pthread_cond_timedwait(&left, &lock, &until) != 0) break;
    unsigned long turn = ++last;
    inside = turn;
    pthread_mutex_unlock(&lock);
    return turn;
}

void tpi_loader_leave(unsigned long turn) {
    pthread_mutex_lock(&lock);
    if (inside == turn) {
        inside = 0;
        pthread_cond_signal(&left);
    }
    pthread_mutex_unlock(&lock);
}
