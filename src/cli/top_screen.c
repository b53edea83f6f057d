/* See top_screen.h. One thread draws and reads keys; it waits for keys, signals and the reader, never for the
 * database. Signals that end the program are noted and dealt with between two drawings, so that the terminal
 * is always put back. */
#include "top_screen.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/signals.h"
#include "terminal.h"
#include "top_pages.h"

struct top {
    struct reader *reader;
    struct screen screen;
    int wake[2];
    bool quit;
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

/* ---- Keys ---------------------------------------------------------------------------------------------- */

static void go_to(struct top *top, enum page page) {
    top->screen.page = page;
    top->screen.chosen = top->screen.top = 0;
}

static void wish(struct top *top, const struct reader_wish *wanted, enum page page) {
    top->screen.wish = *wanted;
    reader_ask(top->reader, wanted);
    go_to(top, page);
}

/* The tasks of the chosen handler, or of the chosen group of failures. */
static void open_row(struct top *top) {
    const struct reader_view *view = &top->screen.view;
    size_t chosen = top->screen.chosen;
    struct reader_wish wanted = {.failed = true};

    if (top->screen.page == PAGE_HANDLERS && chosen < view->figures.handler_count) {
        snprintf(wanted.handler, sizeof wanted.handler, "%s", view->figures.handlers[chosen].name);
    } else if (top->screen.page == PAGE_GROUPS && chosen < view->group_count) {
        const struct reader_group *group = &view->groups[chosen];

        snprintf(wanted.handler, sizeof wanted.handler, "%s", group->handler);
        snprintf(wanted.reason, sizeof wanted.reason, "%s", group->reason);
        wanted.failed = group->waiting < group->count;
    } else {
        return;
    }
    wish(top, &wanted, PAGE_TASKS);
}

static void open_groups(struct top *top) {
    wish(top, &(struct reader_wish){.groups = true}, PAGE_GROUPS);
}

static void go_back(struct top *top) {
    if (top->screen.page == PAGE_TASKS && *top->screen.wish.reason)
        open_groups(top);
    else
        wish(top, &(struct reader_wish){.groups = false}, PAGE_HANDLERS);
}

static void swap_pool(struct top *top) {
    if (top->screen.page != PAGE_TASKS) return;
    top->screen.wish.failed = !top->screen.wish.failed;
    reader_ask(top->reader, &top->screen.wish);
    go_to(top, PAGE_TASKS);
}

static void move_by(struct top *top, int rows) {
    if (rows < 0 && top->screen.chosen < (size_t)-rows)
        top->screen.chosen = 0;
    else
        top->screen.chosen = (size_t)((int64_t)top->screen.chosen + rows);
}

static void handle_key(struct top *top, int key) {
    switch (key) {
    case 'q':
        top->quit = true;
        break;
    case 'h':
    case '?':
        go_to(top, PAGE_HELP);
        break;
    case 's':
        top->screen.order = (enum order)((top->screen.order + 1) % ORDERS);
        break;
    case 'p':
    case ' ':
        top->screen.paused = !top->screen.paused;
        break;
    case 'r':
        reader_ask(top->reader, &top->screen.wish);
        break;
    case 'e':
        open_groups(top);
        break;
    case 'w':
        go_to(top, PAGE_WORKERS);
        break;
    case 'f':
        swap_pool(top);
        break;
    case TERMINAL_ENTER:
        open_row(top);
        break;
    case TERMINAL_BACK:
        go_back(top);
        break;
    case TERMINAL_UP:
    case TERMINAL_DOWN:
        move_by(top, key == TERMINAL_UP ? -1 : 1);
        break;
    case TERMINAL_PAGE_UP:
    case TERMINAL_PAGE_DOWN:
        move_by(top, key == TERMINAL_PAGE_UP ? -10 : 10);
        break;
    default:
        break;
    }
}

/* ---- Running ------------------------------------------------------------------------------------------- */

/* Once a second also when nothing comes: how long the database has not answered is drawn. False: the terminal
 * is gone. */
static bool wait_for_something(struct top *top) {
    struct pollfd ends[] = {{STDIN_FILENO, POLLIN, 0}, {top->wake[0], POLLIN, 0}};
    char ignored[64];

    if (poll(ends, 2, 1000) < 0) return errno == EINTR;
    if (ends[1].revents)
        while (read(top->wake[0], ignored, sizeof ignored) > 0)
            ;
    return !(ends[0].revents & (POLLHUP | POLLERR | POLLNVAL));
}

/* A paused display shows what it shows; that the database is gone it says all the same. */
static void look(struct top *top) {
    struct reader_view view;

    reader_look(top->reader, &view);
    if (top->screen.paused && top->screen.view.any && top->screen.page != PAGE_TASKS) {
        memcpy(top->screen.view.error, view.error, sizeof view.error);
        top->screen.view.asking_since = view.asking_since;
        reader_view_free(&view);
        return;
    }
    reader_view_free(&top->screen.view);
    top->screen.view = view;
}

static void run(struct top *top) {
    int key;

    while (!top->quit && !ended_by) {
        look(top);
        pages_draw(&top->screen);
        if (!wait_for_something(top)) break;
        while (!ended_by && (key = terminal_key()) != TERMINAL_NO_KEY)
            handle_key(top, key);
    }
}

static void catch_signals(void) {
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        signals_catch(numbers[i], note_signal, 0);
}

/* A database that does not answer cannot hold up the end: then the process ends without closing its
 * connection. */
enum cli_exit screen_run(tp_conn *conn, int64_t every_ms) {
    struct top top = {.screen = {.order = ORDER_DUE}};
    bool stopped;

    if (pipe2(top.wake, O_CLOEXEC | O_NONBLOCK) != 0)
        return cli_fail(EXIT_IO, "cannot make a pipe: %s", strerror(errno));
    wake_fd = top.wake[1];
    catch_signals();
    if (!terminal_open()) return cli_fail(EXIT_IO, "TERM names no terminal that is known here; use --once");
    top.reader = reader_start(conn, every_ms, top.wake[1]);
    run(&top);
    terminal_close();
    stopped = reader_stop(top.reader);
    reader_view_free(&top.screen.view);
    if (ended_by) signals_end(ended_by);
    if (!stopped) _exit((int)cli_finish(EXIT_DONE));
    return EXIT_DONE;
}
