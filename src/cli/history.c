/* taskpool history: lists what happened to a task, or in the pool. */
#include "cli.h"

#include "common/args.h"
#include "common/listing.h"
#include "common/pool_columns.h"

static char *limit_text;

static struct poptOption options[] = {
    OPTION_TEXT("limit", '\0', &limit_text, "N", "at most so many (100); all of one task"),
    OPTION_CSV,
    COMMON_OPTIONS,
    POPT_TABLEEND,
};

const struct usage history_usage = {
    "[ID]",
    "What happened to a task besides being claimed and done, oldest first: failures, lapsed leases, and\n"
    "what operators did. Without ID, what happened last in the whole pool, newest first.\n"
    "Exit code 1: nothing.\n",
    "  taskpool history 0190c3a2-7b1e-7f3a-9c55-2f6f0c1d2e3f\n"
    "  taskpool history --limit 20\n"
    "  taskpool history --json | jq -r 'select(.event == \"purged\")'\n",
    options,
    0,
    1,
};

struct page {
    struct listing *events;
    size_t limit, seen; /* one more may be seen than the limit: there are more */
};

static void add(const tp_history *event, void *arg) {
    struct page *page = arg;

    if (page->seen++ < page->limit) listing_add(page->events, event);
}

/* Of one task all events are shown. */
static enum cli_exit show(tp_conn *conn, const char *id, size_t limit) {
    struct page page = {listing_open(history_columns), id ? SIZE_MAX : limit, 0};
    tp_status status = tp_history_each(conn, id, limit < INT32_MAX ? limit + 1 : limit, add, &page);

    if (status == TP_OK) {
        listing_print(page.events);
        /* Nobody counts a whole history. */
        listing_more(page.seen > page.limit ? -1 : 0, "a larger --limit shows them");
    }
    listing_free(page.events);
    if (status < 0) return cli_fail_tp(status);
    if (status == TP_NONE && !common.quiet && !common.json)
        (void)cli_fail(EXIT_NOTHING, "nothing is recorded%s", id ? " of this task" : "");
    return cli_exit_of(status);
}

enum cli_exit history_command(const char **args) {
    int64_t limit = 100;

    args_integer("--limit", limit_text, 1, INT32_MAX, &limit);
    return show(args_connect(), args[0], (size_t)limit);
}
