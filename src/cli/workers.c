/* taskpool workers: who is there, since when, and what is in progress. What the rows say is the workers' own
 * word; one that was killed cannot say so, and is silent. */
#include "cli.h"

#include <string.h>

#include "common/args.h"
#include "common/listing.h"
#include "common/values.h"

enum { SILENT_MS = 60000, GONE_SHOWN_MS = 3600000 };

static int all;

static struct poptOption options[] = {
    OPTION_FLAG("all", 'a', &all, "also those that ended, or died more than an hour ago"),
    COMMON_OPTIONS,
    POPT_TABLEEND,
};

const struct usage workers_usage = {
    "",
    "Shows the workers: since when they run, when they were last heard of, how many tasks are in progress "
    "and\n"
    "since when the oldest of them is, and what they did. silent: not heard of for a minute.\n"
    "Exit code 1: there are none.\n",
    "  taskpool workers\n"
    "  taskpool workers --all --json | jq -r 'select(.state == \"died\") | .name'\n",
    options,
    0,
    0,
};

/* A worker's row, and what is worked out of it. */
struct shown {
    tp_worker_row row;
    const char *state, *id;
    int64_t age_ms;
};

static const char *age_text(const void *record, char text[RECORD_TEXT_SIZE]) {
    return value_age_text(((const struct shown *)record)->age_ms, text);
}

static const char *seen_text(const void *record, char text[RECORD_TEXT_SIZE]) {
    return value_age_text(((const struct shown *)record)->row.seen_ago_ms, text);
}

#define SHOWN(type, member) COLUMN_OF(type, struct shown, member)
static const struct column columns[] = {
    {"WORKER", "name", SHOWN(TEXT, row.name)},
    {"STATE", "state", SHOWN(TEXT, state)},
    {"FOR", .shown = age_text},
    {"SEEN", .shown = seen_text},
    {"TASKS", "running", SHOWN(NUMBER, row.running)},
    {"THREADS", "threads", SHOWN(NUMBER, row.threads)},
    {"DONE", "done", SHOWN(NUMBER, row.done)},
    {"FAILED", "failed", SHOWN(NUMBER, row.failed)},
    {"HANDLERS", "handlers", SHOWN(TEXT, row.handlers)},
    {NULL, "id", SHOWN(TEXT, id)},
    {NULL, "host", SHOWN(TEXT, row.host)},
    {NULL, "pid", SHOWN(NUMBER, row.pid)},
    {NULL, "plan", SHOWN(TEXT, row.plan)},
    {NULL, "claimed", SHOWN(NUMBER, row.claimed)},
    {NULL, "started_at", SHOWN(TIME, row.started_at)},
    {NULL, "seen_at", SHOWN(TIME, row.seen_at)},
    {NULL, "seen_ago_ms", SHOWN(NUMBER, row.seen_ago_ms)},
    COLUMNS_END,
};

struct list {
    struct listing *listing;
    int64_t now;
    int shown, hidden;
};

static bool is_gone(const tp_worker_row *row) {
    return strcmp(row->state, "running") != 0 && strcmp(row->state, "stopping") != 0;
}

static void add_worker(const tp_worker_row *row, void *arg) {
    struct list *list = arg;
    struct shown shown = {*row, row->state, row->id, list->now - row->started_at};
    bool ended = strcmp(row->state, "ended") == 0;

    if (!all && is_gone(row) && (ended || row->seen_ago_ms > GONE_SHOWN_MS)) {
        list->hidden++;
        return;
    }
    if (is_gone(row))
        shown.age_ms = row->seen_at - row->started_at;
    else if (row->seen_ago_ms >= SILENT_MS)
        shown.state = "silent";
    list->shown++;
    listing_add(list->listing, &shown);
}

enum cli_exit workers_command(const char **args) {
    tp_conn *conn = args_connect();
    struct list list = {.listing = listing_open(columns)};
    tp_status status = tp_now(conn, &list.now);

    (void)args;
    if (status == TP_OK) status = tp_worker_each(conn, add_worker, &list);
    if (status >= TP_OK && list.shown) listing_print(list.listing);
    listing_free(list.listing);
    if (status < TP_OK) return cli_fail_tp(status);
    if (list.hidden && !common.json && !common.quiet)
        cli_warn("%d that ended, or died more than an hour ago, are not shown; see --all", list.hidden);
    return list.shown ? EXIT_DONE : EXIT_NOTHING;
}
