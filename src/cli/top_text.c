/* See top_text.h. */
#include "top_text.h"

#include <stdio.h>
#include <string.h>

#include "common/values.h"

enum { TOP_COLUMNS = 80 };

double top_rate(int64_t count) {
    return (double)count * 1000.0 / FIGURES_WINDOW_MS;
}

const char *top_count(int64_t count, char text[TOP_COUNT_SIZE]) {
    if (count < 100000)
        snprintf(text, TOP_COUNT_SIZE, "%lld", (long long)count);
    else if (count < 10000000)
        snprintf(text, TOP_COUNT_SIZE, "%lldk", (long long)(count / 1000));
    else
        snprintf(text, TOP_COUNT_SIZE, "%lldM", (long long)(count / 1000000));
    return text;
}

int64_t top_empty_ms(const struct handler_figures *handler) {
    int64_t gain = handler->finished + handler->gave_up - handler->enqueued;

    if (!handler->due) return 0;
    if (gain <= 0) return -1;
    return (int64_t)((double)handler->due / (double)gain * FIGURES_WINDOW_MS);
}

/* A handler that is done with soon says nothing of another that nobody works at. */
struct backlog {
    int64_t empty_ms;             /* the longest of those that shrink */
    int growing, due;             /* handlers */
    char name[FIGURES_NAME_SIZE]; /* one that does not shrink */
};

static struct backlog backlog_of(const struct figures *figures) {
    struct backlog backlog = {0};

    for (size_t i = 0; i < figures->handler_count; i++) {
        const struct handler_figures *handler = &figures->handlers[i];
        int64_t ms = top_empty_ms(handler);

        if (!handler->due || handler->paused_since) continue;
        backlog.due++;
        if (ms < 0 && !backlog.growing++) snprintf(backlog.name, sizeof backlog.name, "%s", handler->name);
        if (ms > backlog.empty_ms) backlog.empty_ms = ms;
    }
    return backlog;
}

int64_t top_all_empty_ms(const struct figures *figures) {
    struct backlog backlog = backlog_of(figures);

    return backlog.growing ? -1 : backlog.empty_ms;
}

static const char *empty_text(const struct backlog *backlog, char text[64]) {
    char time[TIME_TEXT_SIZE];

    if (backlog->growing)
        snprintf(text, 64, "backlog does not shrink");
    else if (!backlog->due)
        snprintf(text, 64, "no backlog");
    else
        snprintf(text, 64, "backlog empty in %s", value_age_text(backlog->empty_ms, time));
    return text;
}

/* What the lines above have no room for; empty: nothing. */
static void write_more(const struct backlog *backlog, int64_t paused_due, char line[TOP_LINE_SIZE]) {
    char time[TIME_TEXT_SIZE], others[TIME_TEXT_SIZE + 32] = "", more[24] = "";
    char paused[TOP_COUNT_SIZE + 40] = "", count[TOP_COUNT_SIZE];

    if (paused_due)
        snprintf(paused, sizeof paused, "%spaused: %s due", backlog->growing ? "; " : "",
                 top_count(paused_due, count));
    if (backlog->growing > 1) snprintf(more, sizeof more, " +%d", backlog->growing - 1);
    if (backlog->empty_ms)
        snprintf(others, sizeof others, "; the others empty in %s", value_age_text(backlog->empty_ms, time));
    if (backlog->growing)
        snprintf(line, TOP_LINE_SIZE, "does not shrink: %.14s%s%s%s", backlog->name, more, others, paused);
    else
        snprintf(line, TOP_LINE_SIZE, "%s", paused);
}

static void write_workers(const struct figures *figures, char line[TOP_LINE_SIZE]) {
    int running = 0, stopping = 0, silent = 0, tasks = 0, threads = 0;

    for (size_t i = 0; i < figures->worker_count; i++) {
        const struct worker_figures *worker = &figures->workers[i];

        running += worker->lives && worker->takes;
        stopping += worker->lives && !worker->takes;
        silent += strcmp(worker->state, "silent") == 0;
        tasks += worker->lives ? worker->running : 0;
        threads += worker->lives ? worker->threads : 0;
    }
    snprintf(line, TOP_LINE_SIZE, "workers: %d running, %d stopping, %d silent; %d tasks on %d threads",
             running, stopping, silent, tasks, threads);
}

static void write_times(const struct handler_figures *sum, char line[TOP_LINE_SIZE]) {
    char wait[2][TIME_TEXT_SIZE], run[2][TIME_TEXT_SIZE];

    if (!figures_timed(&sum->wait) || !figures_timed(&sum->run)) {
        snprintf(line, TOP_LINE_SIZE, "last 10 minutes: workers wrote down nothing");
        return;
    }
    snprintf(line, TOP_LINE_SIZE, "last 10 minutes: waits p50 %s p95 %s  runs p50 %s p95 %s",
             value_duration_text(figures_quantile(&sum->wait, 0.5), wait[0]),
             value_duration_text(figures_quantile(&sum->wait, 0.95), wait[1]),
             value_duration_text(figures_quantile(&sum->run, 0.5), run[0]),
             value_duration_text(figures_quantile(&sum->run, 0.95), run[1]));
}

/* Where there is room for it: the lists of tasks, gates and groups say more. */
static void add_waiting(const char *where, int64_t waiting, char line[TOP_LINE_SIZE]) {
    char count[TOP_COUNT_SIZE], text[TOP_COUNT_SIZE + 40];
    size_t used = strlen(line);

    if (!waiting) return;
    snprintf(text, sizeof text, "%s%s: %s wait", used ? "; " : "", where, top_count(waiting, count));
    if (used + strlen(text) <= TOP_COLUMNS) memcpy(line + used, text, strlen(text) + 1);
}

void top_summary(const struct figures *figures, char lines[TOP_LINES][TOP_LINE_SIZE]) {
    struct handler_figures sum = figures_sum(figures);
    char open[TOP_COUNT_SIZE], due[TOP_COUNT_SIZE], hand[TOP_COUNT_SIZE], retry[TOP_COUNT_SIZE];
    struct backlog backlog = backlog_of(figures);
    char failed[TOP_COUNT_SIZE], age[TIME_TEXT_SIZE], empty[64];
    int64_t held = 0;

    for (size_t i = 0; i < figures->handler_count; i++)
        held += figures_in_progress(&figures->handlers[i]);
    snprintf(lines[0], TOP_LINE_SIZE, "open %s  due %s, oldest %s  in hand %s  retrying %s  failed %s",
             top_count(figures_open(&sum), open), top_count(sum.due, due),
             sum.due_since ? value_age_text(figures_age(figures, &sum), age) : "-", top_count(held, hand),
             top_count(sum.retrying, retry), top_count(sum.failed, failed));
    snprintf(lines[1], TOP_LINE_SIZE, "last minute: in %.1f/s  out %.1f/s  gave up %.1f/s  %s",
             top_rate(sum.enqueued), top_rate(sum.finished + sum.gave_up), top_rate(sum.gave_up),
             empty_text(&backlog, empty));
    write_times(&sum, lines[2]);
    write_workers(figures, lines[3]);
    write_more(&backlog, sum.paused_due, lines[4]);
    add_waiting("at gates", figures->at_gates, lines[4]);
    add_waiting("after groups", figures->after_groups, lines[4]);
}
