/* taskpool list: which tasks are read. */
#include "cli.h"

#include <string.h>

#include "common/args.h"
#include "common/listing.h"
#include "common/task_columns.h"
#include "common/values.h"
#include "selection.h"

enum { PAGE = 1000, READ_MAX = 50000 };

static struct { char *after, *limit; } options;
static bool stopped; /* before the end: nothing found is not nothing there */

static struct poptOption list_table[] = {
    SELECTION_OPTIONS,
    OPTION_TEXT("after", '\0', &options.after, "ID", "tasks behind this one: the last id of the page before"),
    OPTION_TEXT("limit", '\0', &options.limit, "N", "at most so many (100)"),
    OPTION_CSV,
    COMMON_OPTIONS,
    POPT_TABLEEND,
};

const struct usage list_usage = {
    "",
    "Lists the tasks of one pool (pending), or of all, in the order of their ids; with --since or --until "
    "in\n"
    "that of their last change. Times are UTC (see --local-time), by the database's clock. Of the finished "
    "pool at most 50000\n"
    "tasks are read to find those that are asked for; --biz-key, --id, --group, --since and --until need no "
    "such\n"
    "search.\n"
    "Exit code 1: there are none.\n",
    "  taskpool list\n"
    "  taskpool list --pool failed --handler pay --limit 20\n"
    "  taskpool list --pool all --biz-key order-4711\n"
    "  taskpool list --pool finished --since 2030-01-01T08:00Z --csv\n"
    "  taskpool list --pool finished --json | jq -r .id\n",
    list_table,
    0,
    0,
};

static void print_page(const tp_batch *batch, struct listing *tasks) {
    for (size_t i = 0; i < tp_batch_count(batch); i++)
        listing_add(tasks, tp_batch_task(batch, i));
    listing_print(tasks);
}

/* The page ended because enough was read, not because there is no more. */
static void warn_of_rest(const tp_list_request *page) {
    char text[TIME_TEXT_SIZE];

    stopped = true;
    if (common.quiet) return;
    if (page->after_at)
        cli_warn("stopped after %d finished tasks that may be others; go on with --since %s", READ_MAX,
                 value_time_text(page->after_at, text));
    else
        cli_warn("stopped after %d finished tasks that may be others; go on with --after %s", READ_MAX,
                 page->after_id);
}

/* The limit cut the list: is there at least one more? Nobody counts them. */
static tp_status say_more(tp_conn *conn, const tp_list_request *page) {
    char how[TP_ID_SIZE + TIME_TEXT_SIZE + 64], text[TIME_TEXT_SIZE];
    tp_list_request next = *page;
    tp_batch *batch = NULL;
    tp_status status;

    if (common.json || common.csv || common.quiet) return TP_OK;
    next.limit = 1;
    status = tp_list(conn, &next, &batch);
    if (page->after_at)
        snprintf(how, sizeof how, "--since %s goes on, a larger --limit shows more",
                 value_time_text(page->after_at, text));
    else
        snprintf(how, sizeof how, "--after %s goes on, a larger --limit shows more", page->after_id);
    if (status == TP_OK && tp_batch_count(batch)) listing_more(-1, how);
    tp_batch_free(batch);
    return status;
}

/* Prints one page, and makes page the request for the next. after is where that begins. */
static tp_status list_page(tp_conn *conn, tp_list_request *page, char after[TP_ID_SIZE],
                           struct listing *tasks, size_t *count, bool *more) {
    tp_batch *batch = NULL;
    tp_status status = tp_list(conn, page, &batch);

    *count = status == TP_OK ? tp_batch_count(batch) : 0;
    if (*count) print_page(batch, tasks);
    *more = status == TP_OK && tp_list_next(batch, page) == TP_OK;
    if (*more) snprintf(after, TP_ID_SIZE, "%s", page->after_id);
    page->after_id = *more ? after : NULL;
    tp_batch_free(batch);
    return status;
}

/* Pages of the library's size until limit tasks are shown. */
static enum cli_exit list_pages(tp_conn *conn, const tp_list_request *request, size_t limit,
                                struct listing *tasks) {
    char after[TP_ID_SIZE];
    tp_list_request page = *request;
    size_t shown = 0, count = 0;
    bool more = true;

    while (more && shown < limit && !out_failed()) {
        page.limit = limit - shown < PAGE ? limit - shown : PAGE;
        page.read_max = READ_MAX;
        tp_status status = list_page(conn, &page, after, tasks, &count, &more);
        if (status < 0) return cli_fail_tp(status);
        shown += count;
        if (!more || count == page.limit) continue;
        warn_of_rest(&page);
        more = false;
    }
    if (more && !out_failed()) {
        tp_status status = say_more(conn, &page);
        if (status < 0) return cli_fail_tp(status);
    }
    return shown || limit == 0 ? EXIT_DONE : EXIT_NOTHING;
}

static enum cli_exit list_tasks(tp_conn *conn, const tp_list_request *request, size_t limit) {
    struct listing *tasks = listing_open(task_columns);
    enum cli_exit code = list_pages(conn, request, limit, tasks);

    listing_free(tasks);
    return code;
}

enum cli_exit list_command(const char **args) {
    tp_list_request request = TP_LIST_INIT;
    int64_t limit = 100;
    enum cli_exit code;

    (void)args;
    args_integer("--limit", options.limit, 1, INT32_MAX, &limit);
    selection_for_list(&request);
    request.after_id = options.after;
    code = list_tasks(args_connect(), &request, (size_t)limit);
    if (code == EXIT_NOTHING && !stopped && !common.json && !common.csv && !common.quiet)
        (void)cli_fail(code, "no such task in the %s pool%s", selection.pool ? selection.pool : "pending",
                       selection.pool ? "" : "; --pool names another: finished, failed or all");
    return code;
}
