/* Times of UTC as the tests of schedules write them: "2026-03-29 01:00:30", "2026-03-29 01:00", or
 * "2026-03-29" for its first moment; in milliseconds since 1970. */
#ifndef TESTS_UNIT_UTC_H
#define TESTS_UNIT_UTC_H

#include <time.h>

#include "support/test.h"

static inline int64_t at(const char *text) {
    static const char *const formats[] = {"%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M", "%Y-%m-%d"};
    for (size_t i = 0; i < COUNT(formats); i++) {
        struct tm tm = {0};
        const char *end = strptime(text, formats[i], &tm);
        if (end && !*end) return (int64_t)timegm(&tm) * 1000;
    }
    fail_msg("no time: %s", text);
    return 0;
}

static inline const char *text_of(int64_t ms) {
    static char text[40];
    time_t seconds = (time_t)(ms / 1000);
    struct tm tm;
    gmtime_r(&seconds, &tm);
    strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &tm);
    return text;
}

/* The list that a series of times is compared with. */
#define SERIES(...) ((const char *const[]){__VA_ARGS__, NULL})

#endif
