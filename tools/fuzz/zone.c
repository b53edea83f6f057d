/* Time zones: only names of the tz database are taken, and around any instant the offsets are those that the
 * C library shows, on both sides of the change before it. */
#include "base/zone.h"

#include <ctype.h>
#include <time.h>

#include "base/error.h"
#include "fuzz.h"

/* The C library knows the years 1901 to 2900 as well. */
#define FIRST INT64_C(-2145916800)
#define SPAN  INT64_C(31500000000)

static int64_t libc_offset(int64_t at) {
    time_t time = (time_t)at;
    struct tm tm = {0};
    require(localtime_r(&time, &tm) != NULL);
    return tm.tm_gmtoff;
}

static void check_name(const char *name) {
    require(isalpha((unsigned char)*name) && strlen(name) <= 64 && !strstr(name, ".."));
    for (const char *at = name; *at; at++)
        require(isalnum((unsigned char)*at) || strchr("_+-/", *at));
}

/* See the BUG in base/zone.c. */
static bool is_known_wrong(const char *name, int64_t at) {
    return at > INT64_C(2140041600) && (strstr(name, "Dublin") || strstr(name, "Eire"));
}

static void check_span(struct tpi_zone *zone, int64_t at) {
    int64_t start = 0, end = 0, offset = 0, before = 0;
    tpi_zone_span(zone, at, &start, &end, &offset, &before);
    require(start <= at && at < end);
    require(offset > -86400 && offset < 86400 && before > -86400 && before < 86400);
    require(libc_offset(at) == offset);
    if (start > FIRST) {
        require(libc_offset(start) == offset && libc_offset(start - 1) == before);
        require(libc_offset(start + (at - start) / 2) == offset);
    }
    if (end < FIRST + SPAN) {
        int64_t next_start = 0, next_end = 0, next_offset = 0, next_before = 0;
        require(libc_offset(end - 1) == offset);
        tpi_zone_span(zone, end, &next_start, &next_end, &next_offset, &next_before);
        require(next_start == end && next_before == offset && libc_offset(end) == next_offset);
    }
}

static void check_zone(const char *name, int64_t at) {
    struct tpi_zone *zone = NULL;
    tp_status status = tpi_zone_open(name, &zone);
    if (status != TP_OK || !zone) {
        require(status == TP_OK ? !*name : status == TP_MISUSE && *tp_last_error()->text);
        return;
    }
    check_name(name);
    require(setenv("TZ", name, 1) == 0);
    tzset();
    if (!is_known_wrong(name, at)) check_span(zone, at);
    tpi_zone_close(zone);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct fuzz fuzz = {data, size};
    int64_t at = FIRST + (int64_t)(fuzz_number(&fuzz) >> 1) % SPAN;
    char *name = fuzz_rest(&fuzz);
    check_zone(name, at);
    free(name);
    return 0;
}
