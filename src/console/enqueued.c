/* See enqueued.h. */
#include "enqueued.h"

enum { MINUTE_MS = 60000 };

void enqueued_note(struct enqueued *enqueued, int64_t now, int64_t count) {
    int32_t minute = (int32_t)(now / MINUTE_MS - 1);
    int32_t place = minute % ENQUEUED_MINUTES;

    if (minute <= 0 || enqueued->minutes[place] == minute) return;
    enqueued->minutes[place] = minute;
    enqueued->counts[place] = count > INT32_MAX ? INT32_MAX : (int32_t)count;
}

int64_t enqueued_sum(const struct enqueued *enqueued, int64_t since, int64_t until) {
    int64_t sum = -1, first = since / MINUTE_MS, end = (until + MINUTE_MS - 1) / MINUTE_MS;

    if (end - first > ENQUEUED_MINUTES) first = end - ENQUEUED_MINUTES;
    for (int64_t minute = first; minute < end; minute++) {
        int64_t place = minute % ENQUEUED_MINUTES;

        if (minute <= 0 || enqueued->minutes[place] != minute) continue;
        sum = (sum < 0 ? 0 : sum) + enqueued->counts[place];
    }
    return sum;
}
