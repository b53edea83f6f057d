/* See waiting.h. Runs in the worker's handler threads. */
#include "args.h"

#include <json-c/json.h>
#include <time.h>

#include "progress.h"
#include "values.h"
#include "waiting.h"

#define PAUSE_FIRST_MS 2000 /* doubled each time ... */
#define PAUSE_LAST_MS  60000

static int64_t now_ms(void) {
    struct timespec now;

    (void)clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void waiting_begin(struct waiting *waiting, const tp_task *task, const char *path) {
    waiting->task = task;
    waiting->path = path;
    waiting->since = now_ms();
    waiting->next_at = 0;
    waiting->pause_ms = 0;
}

static void say(const struct waiting *waiting, const char *text) {
    const tp_task *task = waiting->task;
    char time_text[TIME_TEXT_SIZE];
    json_object *object;

    if (!common.json) {
        if (!common.quiet) cli_warn("waiting for %s %s: %s", task->handler, task->id, text);
        return;
    }
    object = cli_must(json_object_new_object());
    json_put_text(object, "event", "waiting");
    json_put_text(object, "time", value_time_text(now_ms(), time_text));
    json_put_text(object, "id", task->id);
    json_put_text(object, "handler", task->handler);
    json_put_text(object, "biz_key", task->biz_key);
    json_put_number(object, "failures", task->failures);
    json_put_text(object, "text", text);
    out_json(object);
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
             value_time_text(waiting->since, since), (long long)(now_ms() - waiting->since) / 1000);
    say(waiting, text);
}
