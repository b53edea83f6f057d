/* See child.h. Reading, writing and waiting are one loop, so a program that does not read its parameters, or
 * answers before it has read them, blocks no thread. The end of a program is checked in each round of the
 * loop, and not taken from its output, which something that it left running may hold open. */
#include "child.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/clocks.h"
#include "processes.h"
#include "reports.h"
#include "running.h"

#define WAIT_MS      100  /* how late a timeout or a stop may be noticed */
#define LAST_WAIT_MS 10   /* the same, when its output has ended and only the exit is missing */
#define GRACE_MS     5000 /* between SIGTERM and SIGKILL */
#define LAST_READS   64   /* of what it left in the pipes */
#define LAST_KILLS   10   /* of what was started while the others were killed */

struct child {
    const struct child_order *order;
    struct started at;
    size_t written;
    int64_t deadline; /* by clock_ms; 0: none */
    int64_t kill_at;  /* when SIGTERM has been sent */
    enum child_end why;
    bool ended;
    struct processes rest; /* what it started, and is to end with it */
    int wait_ms;
    struct lines out, err;
    struct reports reports;
};

static void close_end(int *fd) {
    if (*fd >= 0) (void)close(*fd);
    *fd = -1;
}

static void write_params(struct child *child) {
    const struct child_order *order = child->order;
    ssize_t sent = 0;

    if (child->written < order->length)
        sent = write(child->at.in, order->params + child->written, order->length - child->written);
    if (sent < 0 && (errno == EAGAIN || errno == EINTR)) return;
    child->written += sent > 0 ? (size_t)sent : 0;
    /* Not reading its parameters is a program's right. */
    if (sent < 0 || child->written == order->length) close_end(&child->at.in);
}

static void take(struct child *child, const int *fd, const char *data, size_t length) {
    if (fd == &child->at.progress)
        reports_take_progress(&child->reports, data, length);
    else if (fd == &child->at.result)
        reports_take_result(&child->reports, data, length);
    else
        lines_take(fd == &child->at.out ? &child->out : &child->err, data, length);
}

/* Of one of the files in child->at. False: nothing more is there now. */
static bool read_some(struct child *child, int *fd) {
    char data[8192];
    ssize_t got;

    if (*fd < 0) return false;
    got = read(*fd, data, sizeof data);
    if (got > 0) {
        take(child, fd, data, (size_t)got);
        return true;
    }
    if (got == 0 || (errno != EAGAIN && errno != EINTR)) close_end(fd);
    return false;
}

static void serve_pipes(struct child *child) {
    struct pollfd files[] = {{child->at.in, POLLOUT, 0},
                             {child->order->takes_out() ? child->at.out : -1, POLLIN, 0},
                             {child->order->takes_err() ? child->at.err : -1, POLLIN, 0},
                             {child->at.progress, POLLIN, 0},
                             {child->at.result, POLLIN, 0}};

    if (poll(files, sizeof files / sizeof files[0], child->wait_ms) <= 0) return;
    if (files[0].revents) write_params(child);
    if (files[1].revents) (void)read_some(child, &child->at.out);
    if (files[2].revents) (void)read_some(child, &child->at.err);
    if (files[3].revents) (void)read_some(child, &child->at.progress);
    if (files[4].revents) (void)read_some(child, &child->at.result);
}

/* To the program, its group, and whatever it started that has left the group. Program and group keep their
 * number until it is reaped, so this cannot reach a stranger. */
static void send_signal(struct child *child, int number) {
    pid_t pid = child->at.pid;
    pid_t group = getpgid(pid);

    processes_find(&child->rest, pid, child->order->task);
    (void)kill(-pid, number);
    if (group > 0 && group != pid) (void)kill(pid, number);
    processes_signal(&child->rest, pid, number);
}

static void end_it(struct child *child, enum child_end why) {
    child->why = why;
    child->kill_at = clock_ms() + GRACE_MS;
    send_signal(child, SIGTERM);
}

static void watch_time(struct child *child) {
    int64_t now = clock_ms();

    if (child->kill_at) {
        if (now >= child->kill_at) send_signal(child, SIGKILL);
    } else if (child->deadline && now >= child->deadline) {
        end_it(child, CHILD_TIMEOUT);
    } else if (child->order->stop(child->order->stop_arg, child->at.pid)) {
        end_it(child, CHILD_STOPPED);
    }
}

static void kill_rest(struct child *child) {
    for (int i = 0; i == 0 || (i < LAST_KILLS && child->rest.count); i++)
        send_signal(child, SIGKILL);
}

/* Checks without reaping first: while the leader is a zombie its group can still be killed safely. */
static void check_for_end(struct child *child) {
    siginfo_t info;
    int found;

    info.si_pid = 0;
    found = waitid(P_PID, (id_t)child->at.pid, &info, WEXITED | WNOHANG | WNOWAIT);
    if (found == 0 && info.si_pid == 0) {
        bool silent = child->at.out < 0 && child->at.err < 0;

        /* Mostly it is gone within a millisecond after its output ended. */
        child->wait_ms = !silent ? WAIT_MS : child->wait_ms >= LAST_WAIT_MS ? 1 : child->wait_ms + 1;
        return;
    }
    child->ended = true;
    if (found == 0 && child->kill_at) kill_rest(child);
}

static void reap(struct child *child, struct child_result *result) {
    int status = 0;
    int error = running_reap(child->at.pid, &status);

    result->end = child->why;
    if (error) {
        result->code = error;
        if (!child->kill_at) result->end = CHILD_UNKNOWN;
    } else if (WIFSIGNALED(status)) {
        result->code = WTERMSIG(status);
        if (!child->kill_at) result->end = CHILD_KILLED;
    } else {
        result->code = WEXITSTATUS(status);
        /* It got SIGTERM too late, or ended its work in spite of it: its exit code counts. */
        if (result->code == 0) result->end = CHILD_EXITED;
    }
}

static void read_rest(struct child *child) {
    int *files[] = {&child->at.out, &child->at.err, &child->at.progress, &child->at.result};

    for (size_t file = 0; file < sizeof files / sizeof files[0]; file++) {
        for (int i = 0; i < LAST_READS && read_some(child, files[file]); i++)
            continue;
        close_end(files[file]);
    }
    close_end(&child->at.in);
    lines_end(&child->out);
    lines_end(&child->err);
}

void child_run(const struct child_order *order, struct child_result *result) {
    struct child child;
    int error;

    memset(&child, 0, sizeof child);
    memset(result, 0, sizeof *result);
    child.order = order;
    child.out.write = order->write_out;
    child.err.write = order->write_err;
    child.reports.progress = order->progress;
    child.reports.arg = order->progress_arg;
    child.why = CHILD_EXITED;
    child.wait_ms = WAIT_MS;
    error = running_start(order->path, order->task, order->variables, order->progress, &child.at);
    if (error) {
        result->end = CHILD_NO_START;
        result->code = error;
        return;
    }
    child.deadline = order->timeout_ms ? clock_ms() + order->timeout_ms : 0;
    while (!child.ended) {
        serve_pipes(&child);
        watch_time(&child);
        check_for_end(&child);
    }
    read_rest(&child);
    reap(&child, result);
    processes_free(&child.rest);
    snprintf(result->reason, sizeof result->reason, "%s", lines_last(&child.err));
    result->result = reports_result(&child.reports);
    result->result_cut = child.reports.cut;
}
