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
