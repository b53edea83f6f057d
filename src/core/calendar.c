/* See calendar.h. */
#include "core/calendar.h"

#include <string.h>
#include <strings.h>

#include "core/date.h"

/* ---- Texts --------------------------------------------------------------------------------------------- */

/* The weekday that a text begins with; negative: none. */
static int weekday_at(const char *text) {
    static const char *const names[] = {"SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"};
    for (int i = 0; i < 7; i++)
        if (strncasecmp(text, names[i], 3) == 0) return i;
    return -1;
}

bool tpi_weekdays_parse(const char *text, unsigned *weekdays) {
    unsigned set = 0;
    if (strcasecmp(text, "NONE") == 0) {
        *weekdays = 0;
        return true;
    }
    for (const char *at = text;; at++) {
        int first = weekday_at(at), last = first;
        if (first < 0) return false;
        at += 3;
        if (*at == '-') {
            last = weekday_at(at + 1);
            if (last < 0) return false;
            at += 4;
        }
        for (int day = first; day != last; day = (day + 1) % 7)
            set |= 1U << day;
        set |= 1U << last;
        if (!*at) break;
        if (*at != ',') return false;
    }
    *weekdays = set;
    return true;
}

bool tpi_cut_off_parse(const char *text, int *minutes) {
    enum { CUT_OFF_LENGTH = 5 };
    if (!text || strlen(text) != CUT_OFF_LENGTH || text[2] != ':') return false;
    for (int i = 0; i < CUT_OFF_LENGTH; i++)
        if (i != 2 && (text[i] < '0' || text[i] > '9')) return false;
    int hour = (text[0] - '0') * 10 + (text[1] - '0'), minute = (text[3] - '0') * 10 + (text[4] - '0');
    int all = hour * 60 + minute;
    if (minute > 59 || all < 1 || all > TPI_DAY_MINUTES) return false;
    *minutes = all;
    return true;
}

/* ---- Days ---------------------------------------------------------------------------------------------- */

bool tpi_calendar_knows(const struct tpi_calendar *calendar, int64_t date) {
    return date >= calendar->first && date <= calendar->last;
}

static const struct tpi_special_day *find_special(const struct tpi_calendar *calendar, int64_t date) {
    size_t low = 0, high = calendar->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (calendar->days[middle].date < date)
            low = middle + 1;
        else
            high = middle;
    }
    return low < calendar->count && calendar->days[low].date == date ? &calendar->days[low] : NULL;
}

struct tpi_special_day tpi_calendar_day(const struct tpi_calendar *calendar, int64_t date) {
    const struct tpi_special_day *special = find_special(calendar, date);
    bool open = calendar->weekdays >> tpi_date_of(date).weekday & 1;
    struct tpi_special_day day = {date, open ? TP_DAY_OPEN : TP_DAY_CLOSED, 0};
    if (special && (open || special->kind != TP_DAY_HALF)) day = *special;
    if (day.kind == TP_DAY_CLOSED)
        day.cut_off = 0;
    else if (!day.cut_off)
        day.cut_off = calendar->cut_off;
    return day;
}

bool tpi_calendar_nth(const struct tpi_calendar *calendar, int64_t date, int32_t n, int64_t *found) {
    int step = n < 0 ? -1 : 1;
    if (!tpi_calendar_knows(calendar, date)) return false;
    for (int64_t left = n < 0 ? -(int64_t)n : n; left;) {
        date += step;
        if (!tpi_calendar_knows(calendar, date)) return false;
        if (tpi_calendar_day(calendar, date).kind != TP_DAY_CLOSED) left--;
    }
    *found = date;
    return true;
}
