/* When a worker claims next: at a fixed rate or after a fixed delay, with longer pauses while nothing comes,
 * and a little at random, so that many processes do not beat in step. Pure. */
#include "worker/claimer.h"

enum { JITTER_PERCENT = 10 };

void tpi_pace_init(struct tpi_pace *pace, const tp_worker_options *options, int64_t now) {
    *pace = (struct tpi_pace){.rate = options->pace == TP_PACE_RATE,
                              .poll_ms = options->poll_ms,
                              .idle_ms = options->idle_ms,
                              .tick = now};
}

static int64_t interval(const struct tpi_pace *pace) {
    int64_t ms = pace->poll_ms;
    for (unsigned i = 1; i < pace->empty && ms < pace->idle_ms; i++)
        ms *= 2;
    return ms > pace->idle_ms && pace->idle_ms > pace->poll_ms ? pace->idle_ms : ms;
}

/* The random part is not carried on, so that a rate stays a rate. */
int64_t tpi_pace_next(struct tpi_pace *pace, int64_t now, bool found, int random) {
    pace->empty = found ? 0 : pace->empty + 1;
    int64_t ms = interval(pace);
    int64_t less = ms * JITTER_PERCENT / 100 * random / 100;
    if (!pace->rate) return now + ms - less;
    /* Times that passed during a long claim are left out. */
    int64_t late = now - pace->tick;
    pace->tick += late >= ms ? late - late % ms + ms : ms;
    return pace->tick - less > now ? pace->tick - less : now;
}
