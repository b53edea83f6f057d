/* taskpool top: what goes on, live on a terminal (top_screen.c) or once as text. */
#include "cli.h"

#include <stdlib.h>
#include <unistd.h>

#include "common/args.h"
#include "common/listing.h"
#include "common/pool_columns.h"
#include "common/values.h"
#include "terminal.h"
#include "top_reader.h"
#include "top_screen.h"
#include "top_text.h"

enum { EVERY_MS = 2000, EVERY_LEAST_MS = 100, GROUPS_SHOWN = 5 };

static int once;
static char *interval;

static struct poptOption options[] = {
    OPTION_FLAG("once", '1', &once, "print what the screen would show, and end"),
    OPTION_TEXT("interval", 'i', &interval, "DURATION",
                "from one reading to the next (2s); a pool that takes long to read is read less often"),
    COMMON_OPTIONS,
    POPT_TABLEEND,
};

const struct usage top_usage = {
    "",
    "Shows what goes on by handler: open and due tasks, how long the first has been due, what came and went\n"
    "in the last minute, failures and workers. Keys: h shows them. Reads no history.\n"
    "IN is counted by the time in the ids: tasks from plain SQL and ids of your own are not in it.\n",
    "  taskpool top\n"
    "  taskpool top --once\n"
    "  taskpool top --once --json | jq '.handlers[] | select(.due > 1000) | .handler'\n",
    options,
    0,
    0,
};

struct row {
    struct handler_figures of;
    const char *name;
    int64_t open, age_ms, workers, out, empty_ms;
    bool paused;
};

static const char *age_text(const void *record, char text[RECORD_TEXT_SIZE]) {
    const struct row *row = record;

    if (row->paused) return "paused";
    return row->of.due ? value_age_text(row->age_ms, text) : "-";
}

static const char *held_text(const void *record, char text[RECORD_TEXT_SIZE]) {
    snprintf(text, RECORD_TEXT_SIZE, "%lld",
             (long long)figures_in_progress(&((const struct row *)record)->of));
    return text;
}

#define ROW(type, member) COLUMN_OF(type, struct row, member)
static const struct column columns[] = {
    {"HANDLER", "handler", ROW(TEXT, name)},
    {"OPEN", "open", ROW(NUMBER, open)},
    {"DUE", "due", ROW(NUMBER, of.due)},
    {"OLDEST", "oldest_due_ms", ROW(NUMBER, age_ms), .shown = age_text},
    {"HAND", "handling", ROW(NUMBER, of.handling), .shown = held_text},
    {NULL, "lapsed", ROW(NUMBER, of.lapsed)},
    {"RETRY", "retrying", ROW(NUMBER, of.retrying)},
    {"FAILED", "failed", ROW(NUMBER, of.failed)},
    {"IN/MIN", "enqueued_last_minute", ROW(NUMBER, of.enqueued)},
    {"OUT/MIN", "settled_last_minute", ROW(NUMBER, out)},
    {NULL, "gave_up_last_minute", ROW(NUMBER, of.gave_up)},
    {NULL, "empty_in_ms", ROW(NUMBER, empty_ms), .may_miss = true},
    {"WORK", "workers", ROW(NUMBER, workers)},
    {NULL, "paused", ROW(YES_NO, paused)},
    COLUMNS_END,
};

static void add_rows(const struct figures *figures, struct listing *listing) {
    for (size_t i = 0; i < figures->handler_count; i++) {
        const struct handler_figures *handler = &figures->handlers[i];
        int64_t empty_ms = top_empty_ms(handler);
        struct row row = {*handler,
                          handler->name,
                          figures_open(handler),
                          figures_age(figures, handler),
                          handler->workers ? handler->workers : handler->maybe_workers,
                          handler->finished + handler->gave_up,
                          empty_ms > 0 ? empty_ms : 0,
                          handler->paused_since != 0};

        listing_add(listing, &row);
    }
}

/* ---- Why tasks fail ------------------------------------------------------------------------------------ */

struct why {
    struct failure_shown shown;
    int64_t ago_ms;
};

struct whys {
    struct listing *listing;
    int64_t now;
};

static const char *ago_text(const void *record, char text[RECORD_TEXT_SIZE]) {
    return value_age_text(((const struct why *)record)->ago_ms, text);
}

#define WHY(type, member) COLUMN_OF(type, struct why, member)
static const struct column why_columns[] = {
    {"COUNT", "count", WHY(NUMBER, shown.count)},
    {"WAITING", "waiting", WHY(NUMBER, shown.waiting)},
    {"LAST", "last_ago_ms", WHY(NUMBER, ago_ms), .shown = ago_text},
    {"HANDLER", "handler", WHY(TEXT, shown.handler)},
    {"REASON", "reason_like", WHY(TEXT, shown.reason)},
    {NULL, "warning", WHY(TEXT, shown.warning)},
    COLUMNS_END,
};

static void add_why(const tp_failure *failure, void *arg) {
    const struct whys *whys = arg;
    struct why why = {failure_shown(failure, NULL), whys->now - failure->last};

    listing_add(whys->listing, &why);
}

static tp_status read_whys(tp_conn *conn, struct whys *whys) {
    tp_list_request request = TP_LIST_INIT;

    request.pool = "all";
    request.limit = GROUPS_SHOWN;
    request.read_max = READER_NEWEST;
    return tp_failures_each(conn, &request, add_why, whys, NULL);
}

/* ---- The command --------------------------------------------------------------------------------------- */

static void print_object(const struct figures *figures, struct listing *listing, struct listing *whys) {
    struct handler_figures sum = figures_sum(figures);
    int64_t empty = top_all_empty_ms(figures), workers = 0, lapsed = 0;

    for (size_t i = 0; i < figures->handler_count; i++)
        lapsed += figures->handlers[i].lapsed;
    for (size_t i = 0; i < figures->worker_count; i++)
        workers += figures->workers[i].lives;
    out_members(MEMBERS(
        MEMBER_NUMBER("at", figures->now), MEMBER_NUMBER("open", figures_open(&sum)),
        MEMBER_NUMBER("due", sum.due), MEMBER_NUMBER("paused_due", sum.paused_due),
        MEMBER_NUMBER("oldest_due_ms", figures_age(figures, &sum)), MEMBER_NUMBER("handling", sum.handling),
        MEMBER_NUMBER("at_gates", figures->at_gates), MEMBER_NUMBER("after_groups", figures->after_groups),
        MEMBER_NUMBER("lapsed", lapsed), MEMBER_NUMBER("retrying", sum.retrying),
        MEMBER_NUMBER("failed", sum.failed), MEMBER_NUMBER("enqueued_last_minute", sum.enqueued),
        MEMBER_NUMBER("settled_last_minute", sum.finished + sum.gave_up),
        MEMBER_NUMBER("gave_up_last_minute", sum.gave_up), MEMBER_NUMBER_IF(empty >= 0, "empty_in_ms", empty),
        MEMBER_NUMBER("workers", workers), MEMBER_JSON("handlers", listing_list(listing)),
        MEMBER_JSON("failures", listing_list(whys))));
}

static void print_text(const struct figures *figures, struct listing *listing, struct listing *whys) {
    char lines[TOP_LINES][TOP_LINE_SIZE];

    top_summary(figures, lines);
    for (int i = 0; i < TOP_LINES; i++)
        if (*lines[i]) out_text("%s\n", lines[i]);
    out_text("\n");
    listing_print(listing);
    if (!whys) return;
    out_text("\nWhy tasks fail (all of it: taskpool failures):\n");
    listing_print(whys);
}

static enum cli_exit show_once(tp_conn *conn) {
    struct figures figures = {0};
    struct listing *listing = listing_open_list(columns);
    struct whys whys = {listing_open_list(why_columns), 0};
    tp_status status = figures_read(conn, &figures, NULL);

    if (status == TP_OK) status = figures_gates(conn, &figures);
    whys.now = figures.now;
    if (status == TP_OK) status = read_whys(conn, &whys);
    if (status >= TP_OK) add_rows(&figures, listing);
    if (status >= TP_OK && common.json) print_object(&figures, listing, whys.listing);
    if (status >= TP_OK && !common.json)
        print_text(&figures, listing, status == TP_NONE ? NULL : whys.listing);
    listing_free(whys.listing);
    listing_free(listing);
    figures_free(&figures);
    return status < TP_OK ? cli_fail_tp(status) : EXIT_DONE;
}

enum cli_exit top_command(const char **args) {
    int64_t every_ms = EVERY_MS;

    (void)args;
    args_duration("--interval", interval, &every_ms);
    if (every_ms < EVERY_LEAST_MS) args_fail("--interval must be 100ms or longer");
    if (once) return show_once(args_connect());
    if (common.json) args_fail("--json needs --once");
    if (!terminal_is_built())
        args_fail("this program was built without ncurses and has no screen; use --once");
    if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
        args_fail("standard input or output is no terminal; use --once");
    return screen_run(args_connect(), every_ms);
}
