/* See handle.h. Runs in the worker's handler threads. */
#include "cli.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "alert_text.h"
#include "child.h"
#include "common/args.h"
#include "common/clocks.h"
#include "common/stream.h"
#include "common/values.h"
#include "handle.h"
#include "work_events.h"
#include "work_options.h"
#include "work_report.h"

#define ALERT_TIMEOUT_MS 50000 /* less than an alert is taken for */
#define PAUSE_FIRST_MS   2000  /* doubled each time ... */
#define PAUSE_LAST_MS    60000

struct work work;

/* Ends the worker, for a reason that was reported. */
static void break_work(enum cli_exit code) {
    int whole = 0;

    (void)atomic_compare_exchange_strong(&work.broken, &whole, (int)code);
    tp_worker_stop(work.worker);
}

void work_output_failed(void) {
    if (work.broken) return;
    (void)cli_fail(EXIT_IO, "standard output cannot be written any more; the worker ends");
    break_work(EXIT_IO);
}

/* Where the programs' standard output goes: with --json not between our lines. */
static void write_out(const char *text, size_t length) {
    if (common.json)
        work_log_line(text, length);
    else
        out_bytes(text, length);
}

static bool takes_out(void) {
    return stream_takes(common.json ? STDERR_FILENO : STDOUT_FILENO);
}

static bool takes_err(void) {
    return stream_takes(STDERR_FILENO);
}

/* ---- Waiting for a program while the worker stops ------------------------------------------------------ */

struct waiting {
    const tp_task *task;
    const char *path;
    int64_t since;    /* UTC, in ms */
    int64_t next_at;  /* by clock_ms */
    int64_t pause_ms; /* to the next but one; 0: nothing was reported yet */
};

static void begin_waiting(struct waiting *waiting, const tp_task *task, const char *path) {
    waiting->task = task;
    waiting->path = path;
    waiting->since = clock_utc_ms();
    waiting->next_at = 0;
    waiting->pause_ms = 0;
}

static void print_waiting(const tp_task *task, const char *text) {
    if (common.json || (work_log_is_json() && !common.quiet))
        work_print_object("waiting", task, text);
    else if (!common.quiet)
        cli_warn("waiting for %s %s: %s", task->handler, task->id, text);
}

/* Called again and again while the worker stops and the program runs: reports that at the first call, and
 * then now and then. */
static void report_waiting(struct waiting *waiting, pid_t pid) {
    int64_t now = clock_ms();
    char text[8192];
    char since[TIME_TEXT_SIZE];

    if (waiting->pause_ms && now < waiting->next_at) return;
    if (!waiting->pause_ms) waiting->pause_ms = PAUSE_FIRST_MS;
    waiting->next_at = now + waiting->pause_ms;
    waiting->pause_ms = waiting->pause_ms * 2 < PAUSE_LAST_MS ? waiting->pause_ms * 2 : PAUSE_LAST_MS;
    snprintf(text, sizeof text, "process %ld runs %s since %s, for %lld s", (long)pid, waiting->path,
             value_time_text(waiting->since, since), (long long)(clock_utc_ms() - waiting->since) / 1000);
    print_waiting(waiting->task, text);
}

/* ---- A task -------------------------------------------------------------------------------------------- */

struct watched {
    tp_run *run;
    struct waiting waiting;
};

/* A worker that was asked to stop lets programs end, asked twice it does not. But a claim that is lost ends
 * its program in every phase: whatever it still does, another one may be doing as well. So does a task that
 * is not wanted any more. */
static bool must_end(void *arg, pid_t pid) {
    struct watched *watched = arg;
    tp_stop cause = tp_run_stop_cause(watched->run, NULL);

    if (work.stops > 1 || (cause != TP_STOP_NONE && cause != TP_STOP_WORKER)) return true;
    if (cause == TP_STOP_NONE) return false;
    work_report_stopping();
    report_waiting(&watched->waiting, pid);
    return false;
}

static tp_verdict later(tp_run *run, const char *reason, int64_t delay_ms) {
    tp_run_reason(run, reason);
    tp_run_delay(run, delay_ms);
    return TP_RUN_LATER;
}

static tp_verdict failed(tp_run *run, const char *reason) {
    tp_run_reason(run, reason);
    return TP_RUN_FAILED;
}

/* The program was there when the worker started. */
static const char *hint_of(int error) {
    if (error == ENOEXEC) return " (a script begins with a line like #!/bin/sh)";
    if (error == ENOENT)
        return " (it is gone, or its first line is not like #!/bin/sh, with no CR at its end)";
    return "";
}

/* A machine that is short of something is no fault of the task; a program that is gone concerns all tasks. */
static tp_verdict not_started(tp_run *run, const char *path, int error) {
    char reason[128];

    if (error == EAGAIN || error == ENOMEM || error == EMFILE || error == ENFILE || error == ETXTBSY) {
        snprintf(reason, sizeof reason, "cannot start the program now: %s", strerror(error));
        return later(run, reason, work_options.later_ms);
    }
    /* Its reason or biz_key, where the database takes any length; the program is not to blame. */
    if (error == E2BIG) {
        tp_run_no_retry(run);
        return failed(run, "a text of this task is too long for a program's environment");
    }
    (void)cli_fail(EXIT_PROGRAM, "the handler program %s cannot be run: %s%s; the worker ends", path,
                   strerror(error), hint_of(error));
    break_work(EXIT_PROGRAM);
    return later(run, "the program cannot be run", 0);
}

static tp_verdict exited(tp_run *run, const struct child_result *result) {
    char reason[64];

    snprintf(reason, sizeof reason, "exit code %d", result->code);
    switch (result->code) {
    case 0:
        return TP_RUN_DONE;
    case 75:
        return later(run, result->reason[0] ? result->reason : reason, work_options.later_ms);
    case 100:
        tp_run_reason(run, result->reason);
        return TP_RUN_SKIPPED;
    default:
        return failed(run, result->reason[0] ? result->reason : reason);
    }
}

static tp_verdict judge(tp_run *run, const char *path, const struct child_result *result) {
    char reason[64];
    char time[TIME_TEXT_SIZE];

    switch (result->end) {
    case CHILD_KILLED:
        snprintf(reason, sizeof reason, "killed by signal %d", result->code);
        return failed(run, reason);
    case CHILD_TIMEOUT:
        snprintf(reason, sizeof reason, "timed out after %s",
                 value_duration_text(work_options.timeout_ms, time));
        return failed(run, reason);
    case CHILD_STOPPED:
        if (tp_run_stop_cause(run, NULL) != TP_STOP_WORKER) return later(run, "its program was ended", 0);
        return later(run, "the worker was stopped", 0);
    case CHILD_NO_START:
        return not_started(run, path, result->code);
    case CHILD_UNKNOWN:
        snprintf(reason, sizeof reason, "how the program ended is not known: %s", strerror(result->code));
        return failed(run, reason);
    case CHILD_EXITED:
        break;
    }
    return exited(run, result);
}

/* A run of the program for the task, whose output goes where ours does. */
static struct child_order order_of(const char *path, const tp_task *task) {
    struct child_order order = {.path = path,
                                .task = task,
                                .write_out = write_out,
                                .write_err = work_log_line,
                                .takes_out = takes_out,
                                .takes_err = takes_err};
    return order;
}

static void tell_progress(void *arg, int percent, const char *message) {
    tp_run_progress(arg, percent, message);
}

/* Only one that is done keeps it. */
static void keep_result(tp_run *run, const struct child_result *result) {
    const tp_task *task = tp_run_task(run);

    if (result->result_cut)
        cli_warn("the result of task %s (%s) is longer than %d bytes; the rest is left out", task->id,
                 task->handler, TP_PARAMS_MAX);
    if (tp_run_result(run, result->result) != TP_OK)
        cli_warn("the result of task %s is lost: %s", task->id, tp_last_error()->text);
}

/* Its params cannot be read. A row that is damaged stays so. */
static tp_verdict not_read(tp_run *run, tp_status status) {
    const char *why = tp_last_error()->text;

    if (tp_status_may_retry(status) || status == TP_NOMEM || status == TP_LOST)
        return later(run, why, work_options.later_ms);
    return failed(run, why);
}

tp_verdict handle_task(tp_run *run, void *arg) {
    struct child_order order = order_of(arg, tp_run_task(run));
    struct child_result result;
    struct watched watched;
    tp_status status = tp_run_params(run, &order.params, &order.length);

    if (status != TP_OK) return not_read(run, status);
    order.timeout_ms = work_options.timeout_ms;
    order.stop = must_end;
    order.stop_arg = &watched;
    order.progress = tell_progress;
    order.progress_arg = run;
    watched.run = run;
    begin_waiting(&watched.waiting, order.task, order.path);
    work_report_begin(order.task->handler);
    child_run(&order, &result);
    work_report_end(order.task->handler);
    keep_result(run, &result);
    free(result.result);
    return judge(run, order.path, &result);
}

static bool stopped_twice(void *arg, pid_t pid) {
    if (work.stops > 1) return true;
    if (work.stops) report_waiting(arg, pid);
    return false;
}

/* A text that fits into no environment is left out: the alert itself must not be lost. */
static void run_alert(const struct child_order *order, struct child_result *result) {
    struct child_order again = *order;
    tp_task bare = *order->task;

    child_run(order, result);
    if (result->end != CHILD_NO_START || result->code != E2BIG) return;
    bare.biz_key = bare.reason = "";
    again.task = &bare;
    child_run(&again, result);
}

/* True: it ended with 0. The order has what the program gets. */
static bool give_alert(struct child_order order) {
    struct child_result result;
    struct waiting waiting;

    order.timeout_ms = ALERT_TIMEOUT_MS;
    order.stop = stopped_twice;
    order.stop_arg = &waiting;
    begin_waiting(&waiting, order.task, order.path);
    run_alert(&order, &result);
    return result.end == CHILD_EXITED && result.code == 0;
}

int handle_alert(const tp_task *task, const char *text, void *arg) {
    struct child_order order = order_of(arg, task);

    order.params = task->params ? task->params : "";
    order.length = strlen(order.params);
    if (give_alert(order)) return 0;
    cli_warn("the alert program did not end with 0 for task %s (%s); it is run again in a minute", task->id,
             text);
    return 1;
}

int handle_alert_group(const tp_batch *tasks, void *arg) {
    struct child_order order = order_of(arg, tp_batch_task(tasks, 0));
    struct alert_text text;
    bool given;

    alert_text_make(&text, tasks);
    order.params = text.lines;
    order.length = text.length;
    order.variables = text.variables;
    given = give_alert(order);
    if (!given)
        cli_warn("the alert program did not end with 0 for %s tasks (%s); it is run again in two minutes",
                 text.count, text.summary);
    alert_text_free(&text);
    return given ? 0 : 1;
}
