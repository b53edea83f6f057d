/* See intake.h. */
#include "intake.h"

enum { MINUTE_MS = 60000 };

void intake_note(struct intake *intake, int64_t now, int64_t count) {
    int32_t minute = (int32_t)(now / MINUTE_MS - 1);
    int32_t place = minute % INTAKE_MINUTES;

    if (minute <= 0 || intake->minutes[place] == minute) return;
    intake->minutes[place] = minute;
    intake->counts[place] = count > INT32_MAX ? INT32_MAX : (int32_t)count;
}

int64_t intake_sum(const struct intake *intake, int64_t since, int64_t until) {
    int64_t sum = -1, first = since / MINUTE_MS, end = (until + MINUTE_MS - 1) / MINUTE_MS;

    if (end - first > INTAKE_MINUTES) first = end - INTAKE_MINUTES;
    for (int64_t minute = first; minute < end; minute++) {
        int64_t place = minute % INTAKE_MINUTES;

        if (minute <= 0 || intake->minutes[place] != minute) continue;
        sum = (sum < 0 ? 0 : sum) + intake->counts[place];
    }
    return sum;
}
