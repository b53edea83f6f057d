/* Numbers, durations and times as people write them: pure functions. Each reader is true when the whole text
 * is such a value. */
#ifndef COMMON_VALUES_H
#define COMMON_VALUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

bool value_integer(const char *text, int64_t least, int64_t most, int64_t *value);
/* 500ms 10s 5m 2h 1d, or 0; TP_DURATION_MAX at most. */
bool value_duration(const char *text, int64_t *ms);
/* In 1973. Smaller numbers are seconds, or a day like 20251121: as milliseconds long ago, and due at once. */
#define TIME_LEAST INT64_C(100000000000)
/* Milliseconds since 1970, from TIME_LEAST on; or 2025-11-21T10:44:05.123Z (UTC; fraction and seconds may be
 * missing). TP_TIME_MAX at most. */
bool value_time(const char *text, int64_t *ms);
/* What it wants, in a message. */
#define TIME_WANTED "milliseconds (not seconds) since 1970 or a UTC time like 2030-01-01T00:00:00Z"

#define TIME_TEXT_SIZE 40
/* 2025-11-21T10:44:05.123Z; "-" for 0, the number where no calendar reaches. Gives text back. */
const char *value_time_text(int64_t ms, char text[TIME_TEXT_SIZE]);
/* The same in the time zone of the variable TZ, else of this machine: 2025-11-21T11:44:05.123+01:00. */
const char *value_local_text(int64_t ms, char text[TIME_TEXT_SIZE]);
/* 4900 as 4,900. Gives text back. */
const char *value_count_text(int64_t count, char text[TIME_TEXT_SIZE]);
/* 90000 as 90s: the largest unit that divides it. Gives text back. */
const char *value_duration_text(int64_t ms, char text[TIME_TEXT_SIZE]);
/* 11042000 as 3h 4m: the two largest units, for people. Gives text back. */
const char *value_age_text(int64_t ms, char text[TIME_TEXT_SIZE]);

#endif
