/* See waiting.h. Runs in the worker's handler threads. */
#include "cli.h"

#include "common/args.h"
#include "common/clocks.h"
#include "common/values.h"
#include "waiting.h"
#include "work_events.h"

#define PAUSE_FIRST_MS 2000 /* doubled each time ... */
#define PAUSE_LAST_MS  60000

void waiting_begin(struct waiting *waiting, const tp_task *task, const char *path) {
    waiting->task = task;
    waiting->path = path;
    waiting->since = clock_utc_ms();
    waiting->next_at = 0;
    waiting->pause_ms = 0;
}

static void say(const tp_task *task, const char *text) {
    if (common.json)
        work_print_object("waiting", task, text);
    else if (!common.quiet)
        cli_warn("waiting for %s %s: %s", task->handler, task->id, text);
}

void waiting_say(struct waiting *waiting, pid_t pid) {
    int64_t now = clock_ms();
    char text[8192];
    char since[TIME_TEXT_SIZE];

    if (waiting->pause_ms && now < waiting->next_at) return;
    if (!waiting->pause_ms) waiting->pause_ms = PAUSE_FIRST_MS;
    waiting->next_at = now + waiting->pause_ms;
    waiting->pause_ms = waiting->pause_ms * 2 < PAUSE_LAST_MS ? waiting->pause_ms * 2 : PAUSE_LAST_MS;
    snprintf(text, sizeof text, "process %ld runs %s since %s, for %lld s", (long)pid, waiting->path,
             value_time_text(waiting->since, since), (long long)(clock_utc_ms() - waiting->since) / 1000);
    say(waiting->task, text);
}
