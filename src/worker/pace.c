/* When a worker claims next: at a fixed rate; after a fixed delay, with longer pauses while nothing comes;
 * or adaptively, soon after a task came and later the longer none did. Some jitter keeps many processes from
 * claiming at the same moment. Pure. */
#include "worker/pace.h"

/* STATEMENT_MS: at rest, for each statement that a poll takes, so that there are fewer than 4 in a second. */
enum { JITTER_PERCENT = 10, STATEMENT_MS = 270 };

static int64_t longest(const struct tpi_pace *pace) {
    return pace->idle_ms > pace->poll_ms ? pace->idle_ms : pace->poll_ms;
}

/* One that paces itself by what comes begins as if nothing had come for long, unless it is there for what is
 * there already. */
void tpi_pace_init(struct tpi_pace *pace, const tp_worker_options *options, int64_t now) {
    *pace = (struct tpi_pace){.rate = options->pace == TP_PACE_RATE,
                              .hot_ms = options->hot_ms,
                              .poll_ms = options->poll_ms,
                              .idle_ms = options->idle_ms,
                              .tick = now};
    pace->warm_at = options->drain ? now : now - TPI_PACE_COOLING * longest(pace);
}

void tpi_pace_warm(struct tpi_pace *pace, int64_t now) {
    pace->empty = 0;
    pace->warm_at = now;
}

/* A task then waits for at most a 16th of the time since the one before, and however far apart they come, the
 * claims between two grow only with the logarithm of it. */
static int64_t cooling(const struct tpi_pace *pace, int64_t now, int64_t took) {
    int64_t ms = (now - pace->warm_at) / TPI_PACE_COOLING;
    if (ms < pace->hot_ms) ms = pace->hot_ms;
    if (ms < took) ms = took; /* a database that is busy, or far away, is not asked without a pause */
    int64_t most = pace->statements * STATEMENT_MS;
    if (most < longest(pace)) most = longest(pace);
    return ms < most ? ms : most;
}

static int64_t doubling(const struct tpi_pace *pace) {
    int64_t ms = pace->poll_ms;
    for (unsigned i = 1; i < pace->empty && ms < pace->idle_ms; i++)
        ms *= 2;
    return ms < longest(pace) ? ms : longest(pace);
}

/* The random part is not carried on, so that a rate stays a rate. */
int64_t tpi_pace_next(struct tpi_pace *pace, int64_t began, int64_t now, bool found, int random) {
    if (found)
        tpi_pace_warm(pace, now);
    else
        pace->empty++;
    int64_t ms = pace->hot_ms ? cooling(pace, now, now - began) : doubling(pace);
    if (ms < 1) ms = 1;
    int64_t less = ms * JITTER_PERCENT * random / 10000;
    if (!pace->rate) return now + ms - less;
    /* Times that passed during a long claim are left out. */
    int64_t late = now - pace->tick;
    pace->tick += late >= ms ? late - late % ms + ms : ms;
    return pace->tick - less > now ? pace->tick - less : now;
}

int64_t tpi_pace_drain(const struct tpi_pace *pace, int64_t now) {
    int64_t ms = (now - pace->warm_at) / TPI_PACE_COOLING;
    if (ms < TPI_DRAIN_POLL_MS) return TPI_DRAIN_POLL_MS;
    return ms < TPI_DRAIN_REST_MS ? ms : TPI_DRAIN_REST_MS;
}
