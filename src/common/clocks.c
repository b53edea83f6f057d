/* Reads the system clocks and sleeps, for the programs. See clocks.h. */
#include "clocks.h"

#include <time.h>

static int64_t read_ms(clockid_t clock) {
    struct timespec now;

    (void)clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int64_t clock_ms(void) {
    return read_ms(CLOCK_MONOTONIC);
}

int64_t clock_utc_ms(void) {
    return read_ms(CLOCK_REALTIME);
}

void clock_sleep_us(int64_t us) {
    struct timespec pause = {(time_t)(us / 1000000), (long)(us % 1000000) * 1000};

    (void)nanosleep(&pause, NULL);
}

void clock_sleep(int64_t ms) {
    clock_sleep_us(ms * 1000);
}

bool clock_cond_init(pthread_cond_t *changed) {
    pthread_condattr_t monotonic;
    bool made;

    if (pthread_condattr_init(&monotonic) != 0) return false;
    made = pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC) == 0 &&
           pthread_cond_init(changed, &monotonic) == 0;
    (void)pthread_condattr_destroy(&monotonic);
    return made;
}

bool clock_cond_wait(pthread_cond_t *changed, pthread_mutex_t *lock, int64_t until) {
    struct timespec at = {(time_t)(until / 1000), (long)(until % 1000) * 1000000};

    return pthread_cond_timedwait(changed, lock, &at) == 0;
}
