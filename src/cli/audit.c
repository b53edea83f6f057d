/* taskpool audit: lists what people did, or prints the anchor of the chain. Whether the chain is whole says
 * taskpool check --audit. */
#include "cli.h"

#include "common/args.h"
#include "common/listing.h"
#include "common/pool_columns.h"
#include "selection.h"

enum { PAGE = 1000 };

static struct {
    char *who, *action, *subject, *since, *until, *limit;
    int all, anchor;
} options;

static struct poptOption table[] = {
    OPTION_TEXT("who", '\0', &options.who, "NAME", "what this person did"),
    OPTION_TEXT("action", '\0', &options.action, "ACTION", "acts of this kind, such as skipped or paused"),
    OPTION_TEXT("subject", '\0', &options.subject, "NAME",
                "what was done to this task, handler, schedule, worker or pool alone"),
    OPTION_TEXT("since", '\0', &options.since, "TIME", "then or later; 2h: two hours ago"),
    OPTION_TEXT("until", '\0', &options.until, "TIME", "then or earlier; 2h likewise"),
    OPTION_TEXT("limit", '\0', &options.limit, "N", "at most so many, the newest first (100)"),
    OPTION_FLAG("all", '\0', &options.all, "all of them, in the order of the chain"),
    OPTION_FLAG("anchor", '\0', &options.anchor,
                "print place and hash of the last row, to be kept elsewhere"),
    OPTION_CSV,
    COMMON_OPTIONS,
    POPT_TABLEEND,
};

const struct usage audit_usage = {
    "",
    "What people did, newest first: one row for each transaction in which somebody changed something, with "
    "who,\n"
    "why and how many. The rows are a chain, each with a hash over the one before; taskpool check --audit\n"
    "finds one that was changed, inserted or deleted. With --anchor prints the end of the chain as one "
    "word,\n"
    "for check --audit --anchor. Exit code 1: nothing.\n",
    "  taskpool audit --who ann@desk --since 7d\n"
    "  taskpool audit --all --json >audit.jsonl\n"
    "  taskpool audit --anchor | mail -s 'anchor of the task pool' auditor@bank.example\n",
    table,
    0,
    0,
};

struct page {
    struct listing *acts;
    size_t limit, seen; /* one more may be seen than the limit: there are more */
    int64_t last;
};

static void add(const tp_audit *row, void *arg) {
    struct page *page = arg;

    page->last = row->seq;
    if (page->seen++ < page->limit) listing_add(page->acts, row);
}

static enum cli_exit end_of(struct page *page, tp_status status) {
    listing_free(page->acts);
    if (status < 0) return cli_fail_tp(status);
    if (!page->seen && !common.quiet && !common.json) (void)cli_fail(EXIT_NOTHING, "nothing is recorded");
    return page->seen ? EXIT_DONE : EXIT_NOTHING;
}

static enum cli_exit show_all(tp_conn *conn, tp_audit_request *request) {
    struct page page = {listing_open(audit_columns), SIZE_MAX, 0, 0};
    tp_status status = TP_OK;

    request->oldest_first = 1;
    request->limit = PAGE;
    while (status == TP_OK) {
        status = tp_audit_each(conn, request, add, &page);
        if (status == TP_OK) listing_print(page.acts);
        request->seq = page.last;
    }
    return end_of(&page, status);
}

static enum cli_exit show(tp_conn *conn, tp_audit_request *request, size_t limit) {
    struct page page = {listing_open(audit_columns), limit, 0, 0};
    tp_status status;

    request->limit = limit < INT32_MAX ? limit + 1 : limit;
    status = tp_audit_each(conn, request, add, &page);
    if (status == TP_OK) {
        listing_print(page.acts);
        listing_more(page.seen > limit ? -1 : 0, "a larger --limit shows them, --all all of them");
    }
    return end_of(&page, status);
}

static enum cli_exit print_anchor(tp_conn *conn) {
    char anchor[TP_ANCHOR_SIZE];
    tp_status status = tp_audit_anchor(conn, anchor);

    if (status != TP_OK) return cli_fail_tp(status);
    if (common.json)
        out_members(MEMBERS(MEMBER_TEXT("anchor", anchor)));
    else
        out_text("%s\n", anchor);
    return EXIT_DONE;
}

enum cli_exit audit_command(const char **args) {
    tp_audit_request request = TP_AUDIT_INIT;
    int64_t limit = 100;
    tp_conn *conn;

    (void)args;
    args_integer("--limit", options.limit, 1, INT32_MAX, &limit);
    if (options.all && options.limit) args_fail("--all and --limit exclude each other");
    conn = args_connect();
    if (options.anchor) return print_anchor(conn);
    request.who = options.who;
    request.action = options.action;
    request.subject = options.subject;
    selection_moment("--since", options.since, &request.since);
    selection_moment("--until", options.until, &request.until);
    return options.all ? show_all(conn, &request) : show(conn, &request, (size_t)limit);
}
