/* See top_pages.h. */
#include "top_pages.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clocks.h"
#include "common/values.h"
#include "terminal.h"
#include "top_text.h"

enum {
    NAME_WIDTH_LEAST = 12,
    FIGURES_WIDTH = 62,
    STATE_LINE = 1 + TOP_LINES,
    FIRST_ROW = STATE_LINE + 2,
    SLOW_MS = 2000,
    LINE_BYTES = 1024
};

static const char *const order_names[] = {
#define ORDER_NAME_OF(id, name) name,
    ORDER_LIST(ORDER_NAME_OF)
#undef ORDER_NAME_OF
};

static void put_row(const struct screen *screen, size_t row, const char *text) {
    int y = FIRST_ROW + (int)(row - screen->top);

    if (row < screen->top || y >= terminal_lines() - 1) return;
    terminal_put(y, text, row == screen->chosen ? TERMINAL_CHOSEN : TERMINAL_PLAIN);
}

static int name_width(void) {
    return terminal_columns() - FIGURES_WIDTH > NAME_WIDTH_LEAST ? terminal_columns() - FIGURES_WIDTH
                                                                 : NAME_WIDTH_LEAST;
}

/* ---- Pages --------------------------------------------------------------------------------------------- */

static enum order sorting;

static int64_t key_of(const struct handler_figures *handler) {
    switch (sorting) {
    case ORDER_DUE:
        return handler->due;
    case ORDER_AGE:
        return handler->due_since ? INT64_MAX - handler->due_since : 0;
    case ORDER_FAILED:
        return handler->failed;
    case ORDER_IN:
        return handler->enqueued;
    case ORDER_OUT:
        return handler->finished + handler->gave_up;
    case ORDER_NAME:
    case ORDERS:
    default:
        return 0;
    }
}

static int compare(const void *a, const void *b) {
    int64_t left = key_of(a), right = key_of(b);

    if (left != right) return left < right ? 1 : -1;
    return strcmp(((const struct handler_figures *)a)->name, ((const struct handler_figures *)b)->name);
}

static void put_handler(const struct screen *screen, size_t i) {
    const struct handler_figures *handler = &screen->view.figures.handlers[i];
    char open[TOP_COUNT_SIZE], due[TOP_COUNT_SIZE], hand[TOP_COUNT_SIZE], retry[TOP_COUNT_SIZE];
    char failed[TOP_COUNT_SIZE], age[TIME_TEXT_SIZE], line[LINE_BYTES];

    snprintf(line, sizeof line, "%-*.*s %6s %6s %7s %5s %5s %6s %7.1f %7.1f %4d", name_width(), name_width(),
             handler->name, top_count(figures_open(handler), open), top_count(handler->due, due),
             handler->paused_since ? "paused"
             : handler->due        ? value_age_text(figures_age(&screen->view.figures, handler), age)
                                   : "-",
             top_count(figures_in_progress(handler), hand), top_count(handler->retrying, retry),
             top_count(handler->failed, failed), top_rate(handler->enqueued),
             top_rate(handler->finished + handler->gave_up),
             handler->workers ? handler->workers : handler->maybe_workers);
    put_row(screen, i, line);
}

static size_t draw_handlers(const struct screen *screen, char title[LINE_BYTES]) {
    snprintf(title, LINE_BYTES, "%-*s %6s %6s %7s %5s %5s %6s %7s %7s %4s", name_width(), "HANDLER", "OPEN",
             "DUE", "OLDEST", "HAND", "RETRY", "FAILED", "IN/S", "OUT/S", "WORK");
    for (size_t i = 0; i < screen->view.figures.handler_count; i++)
        put_handler(screen, i);
    return screen->view.figures.handler_count;
}

static size_t draw_tasks(const struct screen *screen, char title[LINE_BYTES]) {
    bool here = strcmp(screen->view.wish.handler, screen->wish.handler) == 0 &&
                strcmp(screen->view.wish.reason, screen->wish.reason) == 0 &&
                screen->view.wish.failed == screen->wish.failed;
    size_t count = here ? screen->view.task_count : 0;

    snprintf(title, LINE_BYTES, "%s of %s%s%s%s", screen->wish.failed ? "FAILED TASKS" : "OPEN TASKS",
             screen->wish.handler, *screen->wish.reason ? ", " : "", screen->wish.reason,
             !here   ? ": reading"
             : count ? ""
                     : ": none");
    for (size_t i = 0; i < count; i++) {
        const struct reader_task *task = &screen->view.tasks[i];
        char line[LINE_BYTES], percent[16] = "";

        if (task->percent >= 0) snprintf(percent, sizeof percent, "%d%%", task->percent);
        snprintf(line, sizeof line, "%s %-8s %4s %3d  %s", task->id, task->state, percent, task->failures,
                 task->reason);
        put_row(screen, i, line);
    }
    return count;
}

static size_t draw_groups(const struct screen *screen, char title[LINE_BYTES]) {
    const struct reader_view *view = &screen->view;
    size_t count = view->wish.groups ? view->group_count : 0;

    snprintf(title, LINE_BYTES, "%7s %7s %7s %-*s  %s", "COUNT", "WAITING", "LAST", NAME_WIDTH_LEAST,
             "HANDLER",
             !view->wish.groups ? "WHY TASKS FAIL: reading"
             : count            ? "WHY TASKS FAIL"
                                : "NOTHING FAILED");
    for (size_t i = 0; i < count; i++) {
        const struct reader_group *group = &view->groups[i];
        char number[TOP_COUNT_SIZE], waiting[TOP_COUNT_SIZE], age[TIME_TEXT_SIZE], line[LINE_BYTES];

        snprintf(line, sizeof line, "%7s %7s %7s %-*.*s  %s", top_count(group->count, number),
                 top_count(group->waiting, waiting), value_age_text(view->figures.now - group->last, age),
                 NAME_WIDTH_LEAST, NAME_WIDTH_LEAST, group->handler, group->reason);
        put_row(screen, i, line);
    }
    return count;
}

static size_t draw_workers(const struct screen *screen, char title[LINE_BYTES]) {
    size_t row = 0;

    snprintf(title, LINE_BYTES, "%-*s %-8s %8s %8s %6s %7s %9s %7s", name_width(), "WORKER", "STATE", "FOR",
             "SEEN", "TASKS", "THREADS", "DONE", "FAILED");
    for (size_t i = 0; i < screen->view.figures.worker_count; i++) {
        const struct worker_figures *worker = &screen->view.figures.workers[i];
        char age[TIME_TEXT_SIZE], seen[TIME_TEXT_SIZE], line[LINE_BYTES];

        if (strcmp(worker->state, "ended") == 0) continue;
        snprintf(line, sizeof line, "%-*.*s %-8s %8s %8s %6d %7d %9lld %7lld", name_width(), name_width(),
                 worker->name, worker->state,
                 value_age_text(screen->view.figures.now - worker->started_at, age),
                 value_age_text(worker->seen_ago_ms, seen), worker->running, worker->threads,
                 (long long)worker->done, (long long)worker->failed);
        put_row(screen, row++, line);
    }
    return row;
}

static size_t draw_help(char title[LINE_BYTES]) {
    static const char *const lines[] = {
        "up down PgUp PgDn   choose a row",
        "e                   why tasks fail: the newest of each pool, in groups",
        "Enter               failed tasks of the handler, or of the group; f: failed or",
        "                    open ones",
        "s                   sort by the next column: name, due, oldest, failed, in, out",
        "w                   workers",
        "p                   pause the display; it goes on reading",
        "r                   read now",
        "Esc, Backspace      back",
        "q                   quit",
        "",
        "OLDEST: how long the first due task has been due. HAND: being handled.",
        "RETRY: failed, to be tried again. FAILED: in the failed pool. IN/S, OUT/S:",
        "a second, over the last minute; IN lacks tasks from plain SQL and with ids of",
        "your own. WORK: living workers.",
    };

    snprintf(title, LINE_BYTES, "HELP");
    for (size_t i = 0; i < sizeof lines / sizeof lines[0] && FIRST_ROW + (int)i < terminal_lines() - 1; i++)
        terminal_put(FIRST_ROW + (int)i, lines[i], TERMINAL_PLAIN);
    return 0;
}

/* ---- The whole screen ---------------------------------------------------------------------------------- */

static void draw_state(const struct screen *screen) {
    const struct reader_view *view = &screen->view;
    char line[LINE_BYTES], age[TIME_TEXT_SIZE];
    int64_t now = clock_ms();

    if (*view->error)
        snprintf(line, sizeof line, "NO DATABASE%s%s: %s", view->any ? ", figures of before " : "",
                 view->any ? value_age_text(now - view->read_at, age) : "", view->error);
    else if (view->asking_since && now - view->asking_since > SLOW_MS)
        snprintf(line, sizeof line, "waiting for the database for %s",
                 value_age_text(now - view->asking_since, age));
    else
        snprintf(line, sizeof line, "%s", view->any ? "" : "reading");
    terminal_put(STATE_LINE, line, *view->error ? TERMINAL_BOLD : TERMINAL_PLAIN);
}

static void draw_head(const struct screen *screen) {
    char lines[TOP_LINES][TOP_LINE_SIZE], line[LINE_BYTES], time[TIME_TEXT_SIZE];

    snprintf(line, sizeof line, "taskpool top  %s  sorted by %s%s",
             screen->view.any ? value_time_text(screen->view.figures.now, time) : "-",
             order_names[screen->order], screen->paused ? "  PAUSED" : "");
    terminal_put(0, line, TERMINAL_PLAIN);
    top_summary(&screen->view.figures, lines);
    for (int i = 0; i < TOP_LINES; i++)
        terminal_put(1 + i, screen->view.any ? lines[i] : "", TERMINAL_PLAIN);
}

static size_t draw_page(const struct screen *screen, char title[LINE_BYTES]) {
    switch (screen->page) {
    case PAGE_TASKS:
        return draw_tasks(screen, title);
    case PAGE_GROUPS:
        return draw_groups(screen, title);
    case PAGE_WORKERS:
        return draw_workers(screen, title);
    case PAGE_HELP:
        return draw_help(title);
    case PAGE_HANDLERS:
    default:
        return draw_handlers(screen, title);
    }
}

/* Keeps the chosen row on the screen. */
static void keep_in_sight(struct screen *screen, size_t rows) {
    int lines = terminal_lines() - FIRST_ROW - 1;
    size_t room = lines > 1 ? (size_t)lines : 1;

    if (screen->chosen >= rows) screen->chosen = rows ? rows - 1 : 0;
    if (screen->chosen < screen->top) screen->top = screen->chosen;
    if (screen->chosen >= screen->top + room) screen->top = screen->chosen - room + 1;
}

static void sort(struct screen *screen) {
    sorting = screen->order;
    if (screen->view.figures.handler_count)
        qsort(screen->view.figures.handlers, screen->view.figures.handler_count,
              sizeof *screen->view.figures.handlers, compare);
}

/* How many rows there are is known once they were drawn. */
void pages_draw(struct screen *screen) {
    size_t chosen = screen->chosen, top = screen->top;
    char title[LINE_BYTES] = "";

    sort(screen);
    terminal_clear();
    keep_in_sight(screen, draw_page(screen, title));
    if (chosen != screen->chosen || top != screen->top) {
        terminal_clear();
        (void)draw_page(screen, title);
    }
    draw_head(screen);
    draw_state(screen);
    terminal_put(FIRST_ROW - 1, title, TERMINAL_BOLD);
    terminal_put(terminal_lines() - 1,
                 "q quit h help s sort p pause e why tasks fail Enter tasks w workers Esc back",
                 TERMINAL_PLAIN);
    terminal_show();
}
