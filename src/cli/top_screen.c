/* See top_screen.h. One thread draws and reads keys; it waits for keys, signals and the reader, never for the
 * database. Signals that end the program are noted and dealt with between two drawings, so that the terminal
 * is always put back. */
#include "top_screen.h"

#ifdef TASKPOOL_CURSES

#include <curses.h>
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <unistr.h>
#include <uniwidth.h>

#include "common/args.h"
#include "common/clocks.h"
#include "common/escape.h"
#include "common/signals.h"
#include "common/values.h"
#include "top_reader.h"
#include "top_text.h"

enum { NAME_WIDTH_LEAST = 12, FIGURES_WIDTH = 62, FIRST_ROW = 6, SLOW_MS = 2000, LINE_BYTES = 1024 };

enum page { PAGE_HANDLERS, PAGE_TASKS, PAGE_WORKERS, PAGE_HELP };

/* X(enumerator, "title") */
#define ORDER_LIST(X)                                                                                        \
    X(ORDER_NAME, "name")                                                                                    \
    X(ORDER_DUE, "due")                                                                                      \
    X(ORDER_AGE, "oldest")                                                                                   \
    X(ORDER_FAILED, "failed")                                                                                \
    X(ORDER_IN, "in")                                                                                        \
    X(ORDER_OUT, "out")
enum order {
#define ORDER_ENUM(id, name) id,
    ORDER_LIST(ORDER_ENUM)
#undef ORDER_ENUM
        ORDERS
};
static const char *const order_names[] = {
#define ORDER_NAME_OF(id, name) name,
    ORDER_LIST(ORDER_NAME_OF)
#undef ORDER_NAME_OF
};

struct screen {
    struct reader *reader;
    struct reader_view view;
    int wake[2];
    enum page page;
    enum order order;
    bool paused, quit;
    size_t chosen, top; /* rows of the page */
    struct reader_wish wish;
};

static volatile sig_atomic_t ended_by; /* a signal, or 0 */
static int wake_fd = -1;

static void note_signal(int number) {
    int error = errno;
    ssize_t ignored = write(wake_fd, "s", 1);

    (void)ignored;
    ended_by = number;
    errno = error;
}

/* ---- Lines --------------------------------------------------------------------------------------------- */

/* Writes as much of the text as the line has cells for, and clears the rest. */
static void put_line(int y, const char *text) {
    char *shown = cli_must(escape_text(text));
    const uint8_t *at = (const uint8_t *)shown;
    int cells = 0;

    if (y >= 0 && y < LINES) {
        while (*at) {
            ucs4_t character;
            int bytes = u8_strmbtouc(&character, at);
            int width = bytes > 0 ? uc_width(character, "UTF-8") : 0;

            if (bytes <= 0 || cells + width > COLS) break;
            cells += width > 0 ? width : 0;
            at += bytes;
        }
        mvaddnstr(y, 0, shown, (int)(at - (const uint8_t *)shown));
        clrtoeol();
    }
    free(shown);
}

static void put_row(const struct screen *screen, size_t row, const char *text) {
    int y = FIRST_ROW + (int)(row - screen->top);
    bool chosen = row == screen->chosen;

    if (row < screen->top || y >= LINES - 1) return;
    if (chosen) attron(A_REVERSE);
    put_line(y, text);
    if (chosen) attroff(A_REVERSE);
}

static int name_width(void) {
    return COLS - FIGURES_WIDTH > NAME_WIDTH_LEAST ? COLS - FIGURES_WIDTH : NAME_WIDTH_LEAST;
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
             top_count(handler->handling, hand), top_count(handler->retrying, retry),
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
                screen->view.wish.failed == screen->wish.failed;
    size_t count = here ? screen->view.task_count : 0;

    snprintf(title, LINE_BYTES, "%s of %s%s", screen->wish.failed ? "FAILED TASKS" : "OPEN TASKS",
             screen->wish.handler,
             !here   ? ": reading"
             : count ? ""
                     : ": none");
    for (size_t i = 0; i < count; i++) {
        const struct reader_task *task = &screen->view.tasks[i];
        char line[LINE_BYTES];

        snprintf(line, sizeof line, "%s %-8s %3d  %s", task->id, task->state, task->failures, task->reason);
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
        "Enter               failed tasks of the handler; f: failed or open ones",
        "s                   sort by the next column: name, due, oldest, failed, in, out",
        "w                   workers",
        "p                   pause the display; it goes on reading",
        "r                   read now",
        "Esc, Backspace      back",
        "q                   quit",
        "",
        "OLDEST: how long the first due task has been due. HAND: being handled. RETRY: failed,",
        "to be tried again. FAILED: in the failed pool. IN/S, OUT/S: a second, over the last",
        "minute; IN lacks tasks from plain SQL and with ids of your own. WORK: living workers.",
    };

    snprintf(title, LINE_BYTES, "HELP");
    for (size_t i = 0; i < sizeof lines / sizeof lines[0] && FIRST_ROW + (int)i < LINES - 1; i++)
        put_line(FIRST_ROW + (int)i, lines[i]);
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
    if (*view->error) attron(A_BOLD);
    put_line(4, line);
    if (*view->error) attroff(A_BOLD);
}

static void draw_head(const struct screen *screen) {
    char lines[TOP_LINES][TOP_LINE_SIZE], line[LINE_BYTES], time[TIME_TEXT_SIZE];

    snprintf(line, sizeof line, "taskpool top  %s  sorted by %s%s",
             screen->view.any ? value_time_text(screen->view.figures.now, time) : "-",
             order_names[screen->order], screen->paused ? "  PAUSED" : "");
    put_line(0, line);
    top_summary(&screen->view.figures, lines);
    for (int i = 0; i < TOP_LINES; i++)
        put_line(1 + i, screen->view.any ? lines[i] : "");
}

static size_t draw_page(const struct screen *screen, char title[LINE_BYTES]) {
    switch (screen->page) {
    case PAGE_TASKS:
        return draw_tasks(screen, title);
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
    size_t room = LINES > FIRST_ROW + 2 ? (size_t)(LINES - FIRST_ROW - 1) : 1;

    if (rows && screen->chosen >= rows) screen->chosen = rows - 1;
    if (!rows) screen->chosen = 0;
    if (screen->chosen < screen->top) screen->top = screen->chosen;
    if (screen->chosen >= screen->top + room) screen->top = screen->chosen - room + 1;
}

/* Curses stops at once for Ctrl-Z, but forgets it while it draws: so it comes before or after. */
static void draw(struct screen *screen) {
    char title[LINE_BYTES] = "";
    sigset_t stop, before;
    size_t rows;

    (void)sigemptyset(&stop);
    (void)sigaddset(&stop, SIGTSTP);
    (void)sigprocmask(SIG_BLOCK, &stop, &before);
    sorting = screen->order;
    if (screen->view.figures.handler_count)
        qsort(screen->view.figures.handlers, screen->view.figures.handler_count,
              sizeof *screen->view.figures.handlers, compare);
    erase();
    rows = draw_page(screen, title);
    if (screen->chosen >= rows || screen->chosen < screen->top ||
        FIRST_ROW + (int)(screen->chosen - screen->top) >= LINES - 1) {
        keep_in_sight(screen, rows);
        erase();
        (void)draw_page(screen, title);
    }
    draw_head(screen);
    draw_state(screen);
    attron(A_BOLD);
    put_line(FIRST_ROW - 1, title);
    attroff(A_BOLD);
    put_line(LINES - 1,
             "q quit  h help  s sort  p pause  Enter failures  f failed/open  w workers  Esc back");
    refresh();
    (void)sigprocmask(SIG_SETMASK, &before, NULL);
}

/* ---- Keys ---------------------------------------------------------------------------------------------- */

static void go_to(struct screen *screen, enum page page) {
    screen->page = page;
    screen->chosen = screen->top = 0;
}

static void open_handler(struct screen *screen) {
    if (screen->page != PAGE_HANDLERS || screen->chosen >= screen->view.figures.handler_count) return;
    snprintf(screen->wish.handler, sizeof screen->wish.handler, "%s",
             screen->view.figures.handlers[screen->chosen].name);
    screen->wish.failed = true;
    reader_ask(screen->reader, &screen->wish);
    go_to(screen, PAGE_TASKS);
}

static void go_back(struct screen *screen) {
    screen->wish = (struct reader_wish){{0}, false};
    reader_ask(screen->reader, &screen->wish);
    go_to(screen, PAGE_HANDLERS);
}

static void swap_pool(struct screen *screen) {
    if (screen->page != PAGE_TASKS) return;
    screen->wish.failed = !screen->wish.failed;
    reader_ask(screen->reader, &screen->wish);
    go_to(screen, PAGE_TASKS);
}

static void move_by(struct screen *screen, int rows) {
    if (rows < 0 && screen->chosen < (size_t)-rows)
        screen->chosen = 0;
    else
        screen->chosen = (size_t)((int64_t)screen->chosen + rows);
}

static void handle_key(struct screen *screen, int key) {
    switch (key) {
    case 'q':
        screen->quit = true;
        break;
    case 'h':
    case '?':
        go_to(screen, PAGE_HELP);
        break;
    case 's':
        screen->order = (enum order)((screen->order + 1) % ORDERS);
        break;
    case 'p':
    case ' ':
        screen->paused = !screen->paused;
        break;
    case 'r':
        reader_ask(screen->reader, &screen->wish);
        break;
    case 'w':
        go_to(screen, PAGE_WORKERS);
        break;
    case 'f':
        swap_pool(screen);
        break;
    case '\n':
    case '\r':
    case KEY_ENTER:
        open_handler(screen);
        break;
    case 27:
    case KEY_BACKSPACE:
    case 127:
        go_back(screen);
        break;
    case KEY_UP:
    case KEY_DOWN:
        move_by(screen, key == KEY_UP ? -1 : 1);
        break;
    case KEY_PPAGE:
    case KEY_NPAGE:
        move_by(screen, key == KEY_PPAGE ? -10 : 10);
        break;
    default:
        break;
    }
}

/* ---- Running ------------------------------------------------------------------------------------------- */

/* Once a second also when nothing comes: how long the database has not answered is drawn. False: the terminal
 * is gone. */
static bool wait_for_something(struct screen *screen) {
    struct pollfd ends[] = {{STDIN_FILENO, POLLIN, 0}, {screen->wake[0], POLLIN, 0}};
    char ignored[64];

    if (poll(ends, 2, 1000) < 0) return errno == EINTR;
    if (ends[1].revents)
        while (read(screen->wake[0], ignored, sizeof ignored) > 0)
            ;
    return !(ends[0].revents & (POLLHUP | POLLERR | POLLNVAL));
}

/* A paused display shows what it shows; that the database is gone it says all the same. */
static void look(struct screen *screen) {
    struct reader_view view;

    reader_look(screen->reader, &view);
    if (screen->paused && screen->view.any && screen->page != PAGE_TASKS) {
        memcpy(screen->view.error, view.error, sizeof view.error);
        screen->view.asking_since = view.asking_since;
        reader_view_free(&view);
        return;
    }
    reader_view_free(&screen->view);
    screen->view = view;
}

static void run(struct screen *screen) {
    int key;

    while (!screen->quit && !ended_by) {
        look(screen);
        draw(screen);
        if (!wait_for_something(screen)) break;
        while (!ended_by && (key = getch()) != ERR)
            handle_key(screen, key);
    }
}

static void catch_signals(void) {
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        signals_catch(numbers[i], note_signal, 0);
}

static SCREEN *open_terminal(void) {
    SCREEN *terminal;

    (void)setlocale(LC_CTYPE, "");
    terminal = newterm(NULL, stdout, stdin);
    if (!terminal) return NULL;
    (void)set_escdelay(50);
    cbreak();
    noecho();
    nonl();
    keypad(stdscr, TRUE);
    nodelay(stdscr, TRUE);
    (void)curs_set(0);
    return terminal;
}

bool screen_is_built(void) {
    return true;
}

/* A database that does not answer cannot hold up the end: then the process ends without closing its
 * connection. */
enum cli_exit screen_run(tp_conn *conn, int64_t every_ms) {
    struct screen screen = {.order = ORDER_DUE};
    SCREEN *terminal;
    bool stopped;

    if (pipe2(screen.wake, O_CLOEXEC | O_NONBLOCK) != 0)
        return cli_fail(EXIT_IO, "cannot make a pipe: %s", strerror(errno));
    wake_fd = screen.wake[1];
    catch_signals();
    terminal = open_terminal();
    if (!terminal) return cli_fail(EXIT_IO, "TERM names no terminal that is known here; use --once");
    screen.reader = reader_start(conn, every_ms, screen.wake[1]);
    run(&screen);
    endwin();
    stopped = reader_stop(screen.reader);
    reader_view_free(&screen.view);
    delscreen(terminal);
    if (ended_by) signals_end(ended_by);
    if (!stopped) _exit((int)cli_finish(EXIT_DONE));
    return EXIT_DONE;
}

#else

bool screen_is_built(void) {
    return false;
}

enum cli_exit screen_run(tp_conn *conn, int64_t every_ms) {
    (void)conn;
    (void)every_ms;
    return EXIT_INTERNAL;
}

#endif
