/* Reads the system clocks and sleeps. See clock.h. */
#include "base/clock.h"

#include <time.h>

static int64_t read_us(clockid_t clock) {
    struct timespec now;
    if (clock_gettime(clock, &now) != 0) return 0;
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

int64_t tpi_clock_mono_us(void) {
    return read_us(CLOCK_MONOTONIC);
}

int64_t tpi_clock_mono_ms(void) {
    return tpi_clock_mono_us() / 1000;
}

int64_t tpi_clock_boot_ms(void) {
#if defined(CLOCK_BOOTTIME) && !defined(TP_PLAIN_POSIX)
    return read_us(CLOCK_BOOTTIME) / 1000;
#else
    return tpi_clock_mono_ms();
#endif
}

int64_t tpi_clock_wall_ms(void) {
    return read_us(CLOCK_REALTIME) / 1000;
}
