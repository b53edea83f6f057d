/* taskpool metrics: the pool's figures for Prometheus, to standard output or into a file that is there whole
 * or as it was. */
#include "cli.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/args.h"
#include "figures.h"
#include "openmetrics.h"

static char *output;

static struct poptOption options[] = {
    OPTION_TEXT("output", 'o', &output, "FILE",
                "write FILE anew, for the node exporter's textfile collector (a name in .prom)"),
    COMMON_OPTIONS,
    POPT_TABLEEND,
};

const struct usage metrics_usage = {
    "",
    "Prints what goes on in the pool as OpenMetrics text: open, due and failed tasks and the longest wait "
    "by\n"
    "handler, the workers, and what these did: counters and histograms that begin anew every six hours.\n"
    "Reads no history.\n"
    "--output makes another file beside FILE and renames it, so that no reader sees a part; everybody may\n"
    "read it. The collector reads the older text format, so counters are described by its rules there. If\n"
    "the figures cannot be had, FILE stays as it was.\n",
    "  taskpool metrics\n"
    "  taskpool metrics --output /var/lib/prometheus/node-exporter/taskpool.prom\n",
    options,
    0,
    0,
};

/* ---- Families ------------------------------------------------------------------------------------------ */

/* A gauge with a sample for each handler. */
struct handler_gauge {
    const char *name, *help;
    size_t offset; /* of an int64_t */
};

#define GAUGE(member) offsetof(struct handler_figures, member)
static const struct handler_gauge gauges[] = {
    {"taskpool_due_tasks", "Tasks that could be claimed now.", GAUGE(due)},
    {"taskpool_failed_tasks", "Tasks in the failed pool.", GAUGE(failed)},
    {"taskpool_lapsed_tasks", "Tasks in hand whose lease lapsed; they are due, too.", GAUGE(lapsed)},
    {"taskpool_enqueued_tasks", "Tasks that were put in during the last minute, by the time in their ids.",
     GAUGE(enqueued)},
    {"taskpool_finished_tasks", "Tasks that were done or skipped during the last minute.", GAUGE(finished)},
    {"taskpool_gave_up_tasks", "Tasks that went to the failed pool during the last minute.", GAUGE(gave_up)},
};

static int64_t value_at(const struct handler_figures *handler, size_t offset) {
    int64_t value;

    memcpy(&value, (const char *)handler + offset, sizeof value);
    return value;
}

static void put_gauge(FILE *to, const struct figures *figures, const struct handler_gauge *gauge) {
    metric_family(to, gauge->name, "gauge", "", gauge->help);
    for (size_t i = 0; i < figures->handler_count; i++)
        metric_put(to, gauge->name, LABELS({"handler", figures->handlers[i].name}),
                   value_at(&figures->handlers[i], gauge->offset));
}

static void put_open(FILE *to, const struct figures *figures) {
    static const char name[] = "taskpool_open_tasks";

    metric_family(to, name, "gauge", "",
                  "Tasks in the pending pool; retrying: failed, and to be tried again.");
    for (size_t i = 0; i < figures->handler_count; i++) {
        const struct handler_figures *handler = &figures->handlers[i];

        metric_put(to, name, LABELS({"handler", handler->name}, {"state", "pending"}), handler->pending);
        metric_put(to, name, LABELS({"handler", handler->name}, {"state", "handling"}), handler->handling);
        metric_put(to, name, LABELS({"handler", handler->name}, {"state", "retrying"}), handler->retrying);
    }
}

static void put_oldest(FILE *to, const struct figures *figures) {
    static const char name[] = "taskpool_oldest_due_seconds";

    metric_family(to, name, "gauge", "seconds",
                  "How long the first of the due tasks has been due; 0: none is.");
    for (size_t i = 0; i < figures->handler_count; i++)
        metric_put_seconds(to, name, LABELS({"handler", figures->handlers[i].name}),
                           figures_age(figures, &figures->handlers[i]));
}

static void put_outcomes(FILE *to, const struct figures *figures) {
    /* What --output is for reads the older text format: a family has its samples' name there. */
    metric_family(to, output ? "taskpool_handled_total" : "taskpool_handled", "counter", "",
                  "What came of the tasks that workers handled; failed: to be tried again.");
    for (size_t i = 0; i < figures->handler_count; i++) {
        const tp_activity *counted = &figures->handlers[i].counted;
        const struct {
            const char *outcome;
            int64_t count;
        } outcomes[] = {{"done", counted->done},       {"failed", counted->failed},
                        {"gave_up", counted->gave_up}, {"skipped", counted->skipped},
                        {"lost", counted->lost},       {"released", counted->released}};

        for (size_t k = 0; k < sizeof outcomes / sizeof outcomes[0]; k++)
            metric_put(to, "taskpool_handled_total",
                       LABELS({"handler", figures->handlers[i].name}, {"outcome", outcomes[k].outcome}),
                       outcomes[k].count);
    }
}

static void put_histogram(FILE *to, const struct figures *figures, const char *name, const char *help,
                          size_t offset) {
    metric_family(to, name, "histogram", "seconds", help);
    for (size_t i = 0; i < figures->handler_count; i++) {
        tp_histogram times;

        memcpy(&times, (const char *)&figures->handlers[i] + offset, sizeof times);
        metric_put_histogram(to, name, figures->handlers[i].name, &times);
    }
}

/* See counters.h. */
static void put_counted(FILE *to, const struct figures *figures) {
    metric_family(to, "taskpool_counted_since_seconds", "gauge", "seconds",
                  "From when on the counters count: they begin anew every six hours.");
    metric_put_seconds(to, "taskpool_counted_since_seconds", NO_LABELS, figures->counted_since);
    put_outcomes(to, figures);
    put_histogram(to, figures, "taskpool_wait_seconds", "How long tasks were due when their handler began.",
                  offsetof(struct handler_figures, counted.wait));
    put_histogram(to, figures, "taskpool_run_seconds", "How long handlers ran.",
                  offsetof(struct handler_figures, counted.run));
}

static void put_paused(FILE *to, const struct figures *figures) {
    metric_family(to, "taskpool_paused", "gauge", "", "1: the handler's tasks are not claimed.");
    for (size_t i = 0; i < figures->handler_count; i++)
        metric_put(to, "taskpool_paused", LABELS({"handler", figures->handlers[i].name}),
                   figures->handlers[i].paused_since != 0);
}

static void put_handler_workers(FILE *to, const struct figures *figures) {
    static const char name[] = "taskpool_handler_workers";

    metric_family(to, name, "gauge", "", "Workers that live and take tasks of the handler.");
    for (size_t i = 0; i < figures->handler_count; i++)
        metric_put(to, name, LABELS({"handler", figures->handlers[i].name}),
                   figures->handlers[i].workers ? figures->handlers[i].workers
                                                : figures->handlers[i].maybe_workers);
}

static void put_workers(FILE *to, const struct figures *figures) {
    static const char *const states[] = {"running", "stopping", "silent"};

    metric_family(to, "taskpool_workers", "gauge", "", "Workers; silent: not heard of for a minute.");
    for (size_t i = 0; i < sizeof states / sizeof states[0]; i++) {
        int64_t count = 0;

        for (size_t k = 0; k < figures->worker_count; k++)
            count += strcmp(figures->workers[k].state, states[i]) == 0;
        metric_put(to, "taskpool_workers", LABELS({"state", states[i]}), count);
    }
}

static void put_all(FILE *to, const struct figures *figures) {
    metric_family(to, "taskpool_clock_seconds", "gauge", "seconds",
                  "The database's clock when this was read: by it a file that is no longer written is seen.");
    metric_put_seconds(to, "taskpool_clock_seconds", NO_LABELS, figures->now);
    put_open(to, figures);
    for (size_t i = 0; i < sizeof gauges / sizeof gauges[0]; i++)
        put_gauge(to, figures, &gauges[i]);
    put_oldest(to, figures);
    put_counted(to, figures);
    put_paused(to, figures);
    put_handler_workers(to, figures);
    put_workers(to, figures);
    metric_end(to);
}

/* ---- Where it goes ------------------------------------------------------------------------------------- */

static enum cli_exit fail_to_write(const char *path) {
    return cli_fail(EXIT_IO, "cannot write %s: %s", path, strerror(errno));
}

static bool write_and_sync(int fd, const char *text, size_t length) {
    while (length) {
        ssize_t done = write(fd, text, length);

        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) return false;
        text += done;
        length -= (size_t)done;
    }
    return fchmod(fd, S_IRUSR | S_IWUSR | S_IRGRP | S_IROTH) == 0 && fsync(fd) == 0;
}

/* The collector takes only names in .prom: not that of the file that is not whole yet. */
static enum cli_exit write_file(const char *path, const char *text, size_t length) {
    size_t size = strlen(path) + sizeof ".XXXXXX";
    char *other = cli_must(malloc(size));
    enum cli_exit code = EXIT_DONE;
    bool good;
    int fd;

    snprintf(other, size, "%s.XXXXXX", path);
    fd = mkstemp(other);
    if (fd < 0) {
        code = fail_to_write(path);
        free(other);
        return code;
    }
    good = write_and_sync(fd, text, length);
    if (!good) code = fail_to_write(path);
    if (close(fd) != 0 && good) good = false, code = fail_to_write(path);
    if (good && rename(other, path) != 0) good = false, code = fail_to_write(path);
    if (!good) (void)unlink(other);
    free(other);
    return code;
}

enum cli_exit metrics_command(const char **args) {
    struct figures figures = {0};
    enum cli_exit code = EXIT_DONE;
    char *text = NULL;
    size_t length = 0;
    tp_status status;
    tp_conn *conn;
    FILE *to;

    (void)args;
    if (common.json) args_fail("metrics are OpenMetrics text; leave --json out");
    conn = args_connect();
    status = figures_read(conn, &figures, NULL);
    if (status == TP_OK) status = figures_count(conn, &figures);
    if (status != TP_OK) {
        figures_free(&figures);
        return cli_fail_tp(status);
    }
    to = cli_must(open_memstream(&text, &length));
    put_all(to, &figures);
    cli_must(fclose(to) == 0 ? text : NULL);
    if (output)
        code = write_file(output, text, length);
    else
        out_bytes(text, length);
    free(text);
    figures_free(&figures);
    return code;
}
