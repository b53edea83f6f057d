/* Values of the command line: what is read is in its range and, printed, is read the same; and what is shown
 * in a table moves no cursor. */
#include "common/values.h"

#include <time.h>
#include <unistr.h>

#include "common/escape.h"
#include "fuzz.h"
#include "fuzz_cli.h"

/* Digits with a sign perhaps, read with more bits than the answer has. */
static bool slow_integer(const char *text, int64_t least, int64_t most, int64_t *value) {
    bool negative = *text == '-';
    uint64_t number = 0;
    const char *at = text + negative;
    if (!*at) return false;
    for (; *at; at++) {
        if (*at < '0' || *at > '9') return false;
        number = number < UINT64_MAX / 16 ? number * 10 + (uint64_t)(*at - '0') : UINT64_MAX;
    }
    if (number > (uint64_t)INT64_MAX + negative) return false;
    *value = negative ? (int64_t)(0 - number) : (int64_t)number;
    return *value >= least && *value <= most;
}

static void check_integer(const char *text, int64_t least, int64_t most) {
    int64_t value = 0, slow = 0;
    bool taken = value_integer(text, least, most, &value);
    require(taken == slow_integer(text, least, most, &slow));
    require(!taken || value == slow);
}

static void check_duration(const char *text) {
    int64_t ms = -1, again = -1;
    char shown[TIME_TEXT_SIZE];
    if (!value_duration(text, &ms)) return;
    require(ms >= 0 && ms <= TP_DURATION_MAX);
    require(value_duration(value_duration_text(ms, shown), &again) && again == ms);
}

static void check_time(const char *text) {
    int64_t ms = -1, again = -1;
    char shown[TIME_TEXT_SIZE];
    if (!value_time(text, &ms)) return;
    require(ms >= 0 && ms <= TP_TIME_MAX);
    value_time_text(ms, shown);
    require(ms == 0 ? strcmp(shown, "-") == 0 : value_time(shown, &again) && again == ms);
    /* The calendar of the C library says the same. */
    struct tm tm = {0};
    if (strchr(text, '-') && strptime(text, "%Y-%m-%d", &tm))
        require((int64_t)timegm(&tm) == ms / 86400000 * 86400);
}

static void check_number(int64_t number) {
    char shown[TIME_TEXT_SIZE];
    require(strlen(value_time_text(number, shown)) > 0);
    require(strlen(value_duration_text(number, shown)) > 1);
}

static void check_table(const char *text) {
    char *shown = escape_text(text);
    require(shown != NULL);
    require(!u8_check((const uint8_t *)shown, strlen(shown)));
    for (const uint8_t *at = (const uint8_t *)shown; *at;) {
        ucs4_t c = 0;
        at += u8_mbtoucr(&c, at, strlen((const char *)at));
        require(c >= 0x20 && (c < 0x7f || c >= 0xa0) && (c < 0x202a || c > 0x202e) &&
                (c < 0x2066 || c > 0x2069));
    }
    free(shown);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct fuzz fuzz = {data, size};
    int64_t number = (int64_t)fuzz_number(&fuzz);
    char *text = fuzz_rest(&fuzz);
    check_integer(text, INT64_MIN, INT64_MAX);
    check_integer(text, 0, number);
    check_duration(text);
    check_time(text);
    check_number(number);
    check_table(text);
    free(text);
    return 0;
}
