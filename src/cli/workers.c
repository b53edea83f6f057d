/* taskpool workers: who is there, since when, and what is in progress. What the rows say is the workers' own
 * word; one that was killed cannot say so, and is silent. */
#include "cli.h"

#include <stdlib.h>
#include <string.h>

#include "common/args.h"
#include "common/clocks.h"
#include "common/listing.h"
#include "common/operator_name.h"
#include "common/pool_columns.h"

enum { LOOK_MS = 500, RUNNING_MAX = 100000 };

static int all;
static char *who, *why;

static struct poptOption options[] = {
    OPTION_FLAG("all", 'a', &all, "also those that ended, or died more than an hour ago"),
    OPTION_WHY(&why),
    OPTION_WHO(&who),
    COMMON_OPTIONS,
    POPT_TABLEEND,
};

const struct usage workers_usage = {
    "[drain HOST|WORKER]",
    "Shows the workers: since when they run, when they were last heard of, how many tasks are in progress\n"
    "and since when the oldest of them, of which handler, and what they did. silent: not heard of for a\n"
    "minute. Exit code 1: there are none.\n"
    "drain asks workers of this host, or of this name or id, to claim no more, to let what runs come to its\n"
    "end, and to end; they hear of it within ten seconds. It waits until they have ended, and says so. Who\n"
    "ends the waiting (Ctrl-C) takes nothing back. Exit code 1: no such worker runs.\n",
    "  taskpool workers\n"
    "  taskpool workers --all --json | jq -r 'select(.state == \"died\") | .name'\n"
    "  taskpool workers drain app1.example.org\n",
    options,
    0,
    2,
};

/* Of the tasks that a worker has in progress, the one that was claimed first. */
struct oldest {
    char worker[TP_ID_SIZE], task[TP_ID_SIZE], handler[TP_HANDLER_MAX + 1];
    int64_t claimed_at;
};

struct list {
    struct listing *listing;
    int64_t now;
    int shown, hidden;
    struct oldest *oldest; /* of each worker that has one */
    size_t oldest_count;
};

static const struct oldest *find_oldest(const struct list *list, const char *worker) {
    for (size_t i = 0; i < list->oldest_count; i++)
        if (strcmp(list->oldest[i].worker, worker) == 0) return &list->oldest[i];
    return NULL;
}

/* Those claimed first come first. */
static void take_oldest(const tp_running *running, void *arg) {
    struct list *list = arg;
    struct oldest *oldest;

    if (!running->worker || !running->claimed_at || find_oldest(list, running->worker->id)) return;
    list->oldest = cli_must(realloc(list->oldest, (list->oldest_count + 1) * sizeof *list->oldest));
    oldest = &list->oldest[list->oldest_count++];
    snprintf(oldest->worker, sizeof oldest->worker, "%s", running->worker->id);
    snprintf(oldest->task, sizeof oldest->task, "%s", running->id);
    snprintf(oldest->handler, sizeof oldest->handler, "%s", running->handler);
    oldest->claimed_at = running->claimed_at;
}

static tp_status find_all_oldest(tp_conn *conn, struct list *list) {
    tp_running_request request = TP_RUNNING_INIT;

    request.limit = RUNNING_MAX;
    return tp_running_each(conn, &request, take_oldest, list);
}

static void add_worker(const tp_worker_row *row, void *arg) {
    struct list *list = arg;
    struct worker_shown shown;
    const struct oldest *oldest = worker_is_gone(row) ? NULL : find_oldest(list, row->id);

    if (!worker_is_shown(row, list->now, &shown) && !all) {
        list->hidden++;
        return;
    }
    if (oldest) {
        shown.oldest_task = oldest->task;
        shown.oldest_handler = oldest->handler;
        shown.oldest_claimed_at = oldest->claimed_at;
        shown.oldest_ms = list->now > oldest->claimed_at ? list->now - oldest->claimed_at : 1;
    }
    list->shown++;
    listing_add(list->listing, &shown);
}

static enum cli_exit show(tp_conn *conn) {
    struct list list = {.listing = listing_open(worker_columns)};
    tp_status status = tp_now(conn, &list.now);

    if (status == TP_OK) status = find_all_oldest(conn, &list);
    if (status >= TP_OK) status = tp_worker_each(conn, add_worker, &list);
    if (status >= TP_OK && list.shown) listing_print(list.listing);
    listing_free(list.listing);
    free(list.oldest);
    if (status < TP_OK) return cli_fail_tp(status);
    if (list.hidden && !common.json && !common.quiet)
        cli_warn("%d that ended, or died more than an hour ago, are not shown; see --all", list.hidden);
    return list.shown ? EXIT_DONE : EXIT_NOTHING;
}

/* ---- drain --------------------------------------------------------------------------------------------- */

/* Those that were asked to end since then. */
struct asked {
    const char *target;
    int64_t since;
    int living, tasks, silent;
    char silent_name[160]; /* of one */
};

static void count_asked(const tp_worker_row *row, void *arg) {
    struct asked *asked = arg;
    bool meant = strcmp(row->host, asked->target) == 0 || strcmp(row->name, asked->target) == 0 ||
                 strcmp(row->id, asked->target) == 0;

    if (!meant || !row->drain_at || row->drain_at < asked->since || strcmp(row->state, "ended") == 0) return;
    if (row->seen_ago_ms >= WORKER_SILENT_MS || worker_is_gone(row)) {
        asked->silent++;
        snprintf(asked->silent_name, sizeof asked->silent_name, "%s", row->name);
        return;
    }
    asked->living++;
    asked->tasks += row->running;
}

static tp_status wait_for_end(tp_conn *conn, struct asked *asked) {
    int before = -1;

    for (;;) {
        tp_status status;

        asked->living = asked->tasks = asked->silent = 0;
        status = tp_worker_each(conn, count_asked, asked);
        if (status < TP_OK) return status;
        if (!asked->living) return TP_OK;
        if (asked->living != before && !common.json && !common.quiet)
            cli_warn("%d workers run still, with %d tasks in progress", asked->living, asked->tasks);
        before = asked->living;
        clock_sleep(LOOK_MS);
    }
}

static enum cli_exit drain(tp_conn *conn, const char *target) {
    struct asked asked = {.target = target};
    size_t count = 0;
    tp_status status = tp_now(conn, &asked.since);

    operator_acts(conn, who, why);
    if (status == TP_OK) status = tp_drain(conn, target, operator_name(who), &count);
    if (status == TP_NONE) return cli_fail(EXIT_NOTHING, "no worker of %s runs", target);
    if (status == TP_OK) status = wait_for_end(conn, &asked);
    if (status != TP_OK) return cli_fail_tp(status);
    if (asked.silent)
        cli_warn("%d were not heard of for a minute and are taken for dead, %s among them", asked.silent,
                 asked.silent_name);
    if (common.json)
        out_members(MEMBERS(MEMBER_NUMBER("asked", (int64_t)count), MEMBER_NUMBER("silent", asked.silent)));
    else if (!common.quiet)
        out_text("ended: %lld\n", (long long)count - asked.silent);
    return EXIT_DONE;
}

enum cli_exit workers_command(const char **args) {
    if (!args[0]) return show(args_connect());
    if (strcmp(args[0], "drain") != 0) args_fail("workers knows drain, and no %s", args[0]);
    if (!args[1]) args_fail("workers drain: name a host or a worker");
    return drain(args_connect(), args[1]);
}
