/* taskpool work: starts a worker, stops it by signals, and decides the exit code. Read next: work_options.c
 * for its options, handle.c for its handlers, work_events.c for what it prints. */
#include "cli.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/args.h"
#include "common/signals.h"
#include "common/stream.h"
#include "handle.h"
#include "program.h"
#include "running.h"
#include "service.h"
#include "work_events.h"
#include "work_options.h"
#include "work_report.h"

const struct usage work_usage = {
    "--handler NAME=PROGRAM...",
    "Claims due tasks and runs a program on each, without a shell. The program gets the parameters on "
    "standard\n"
    "input and the task in TASKPOOL_ID, _HANDLER, _BIZ_KEY, _SHARD, _PRIORITY, _FAILURES, _MAX_FAILURES, "
    "_REASON,\n"
    "_CREATED_AT and _TOKEN. Its exit code says what became of the task:\n"
#define EXIT_HELP(number, text) "  " #number "\t" text "\n"
    HANDLER_EXIT_LIST(EXIT_HELP)
#undef EXIT_HELP
        "  others\tfailed: tried again as --retry says, then the failed pool\n"
        "The last line on its standard error is kept as the reason. Ctrl-C or SIGTERM lets running programs "
        "end\n"
        "and says which are waited for, a second one ends them, a third kills all.\n",
    "  taskpool work --handler points=./grant.sh --handler mail=/opt/app/mail --threads 8\n"
    "  taskpool work --handler pay=./pay.sh --retry 10s,1m --timeout 5m --drain\n",
    work_table,
    0,
    0,
};

/* ---- Stopping ---------------------------------------------------------------------------------------- */

/* The third signal takes everything down: programs, then the worker; leases bring its tasks back. */
static void on_stop(int number) {
    if (atomic_fetch_add(&work.stops, 1) < 2) {
        service_stopping();
        tp_worker_stop(work.worker);
        return;
    }
    running_kill_all();
    signals_end(number);
}

/* ---- Starting ---------------------------------------------------------------------------------------- */

/* The worker points into these until it is closed. */
static char **paths;
static size_t path_count;

/* NULL: the mistake was reported. */
static char *find_program(const char *name) {
    char *path = program_find(name);

    if (!path) return NULL;
    paths = cli_must(realloc(paths, (path_count + 1) * sizeof *paths));
    paths[path_count++] = path;
    return path;
}

/* Does an option before this one name the same handler? */
static bool is_named_before(const char **options, const char *option, size_t length) {
    while (*options != option) {
        if (strncmp(*options, option, length + 1) == 0) return true;
        options++;
    }
    return false;
}

static enum cli_exit add_handler(tp_worker *worker, const char *option) {
    const char *mark = strchr(option, '=');
    char name[TP_HANDLER_MAX + 1];
    tp_handler_options options = TP_HANDLER_INIT;
    char *path;
    tp_status status;

    if (!mark || mark == option || mark[1] == '\0')
        args_fail("--handler must be NAME=PROGRAM, not \"%.*s\"", args_shown(option), option);
    if ((size_t)(mark - option) > TP_HANDLER_MAX)
        args_fail("a handler name has at most %d bytes", TP_HANDLER_MAX);
    snprintf(name, sizeof name, "%.*s", (int)(mark - option), option);
    if (is_named_before(work_options.handlers, option, strlen(name)))
        args_fail("--handler names %s twice; a handler has one program", name);
    path = find_program(mark + 1);
    if (!path) return EXIT_PROGRAM;
    options.deadline_ms = work_options.deadline_ms;
    status = tp_worker_handle_by(worker, name, handle_task, path, &options);
    return status == TP_OK ? EXIT_DONE : cli_fail_tp(status);
}

static enum cli_exit start(tp_worker *worker) {
    enum cli_exit code = EXIT_DONE;
    tp_status status;

    for (size_t i = 0; work_options.handlers[i] && code == EXIT_DONE; i++)
        code = add_handler(worker, work_options.handlers[i]);
    if (code != EXIT_DONE) return code;
    work.worker = worker;
    (void)signal(SIGCHLD, SIG_DFL); /* ignored, it would make programs end unseen */
    running_reap_orphans();
    signals_catch(SIGINT, on_stop, 0);
    signals_catch(SIGTERM, on_stop, 0);
    signals_catch(SIGHUP, on_stop, 0);
    if (!streams_start(work_output_failed))
        return cli_fail(EXIT_INTERNAL, "the system gives no more threads");
    status = tp_worker_start(worker);
    if (status != TP_OK) return cli_fail_tp(status);
    service_ready(worker);
    work_report_started();
    return EXIT_DONE;
}

static enum cli_exit say_unstored(tp_worker *worker) {
    tp_worker_info info = TP_WORKER_INFO_INIT;

    if (tp_worker_about(worker, &info) != TP_OK || info.unstored == 0) return EXIT_DONE;
    return cli_fail(
        EXIT_UNREACHABLE,
        "what became of %llu task%s could not be stored, or is not known; the errors above name them. "
        "One that is done, as its error says, and still open runs again when its lease ends: cancel it to "
        "prevent that. The others run again as they should: do not cancel them",
        (unsigned long long)info.unstored, info.unstored == 1 ? "" : "s");
}

static enum cli_exit run(tp_worker *worker) {
    enum cli_exit code = start(worker);
    tp_status status;

    if (code != EXIT_DONE) return code;
    /* Past --stop-after programs are ended, and their tasks put back. */
    while ((status = tp_worker_join(worker)) == TP_TIMEOUT)
        if (work.stops < 2) work.stops = 2;
    service_end();
    work_print_summary();
    if (status < 0) return cli_fail_tp(status);
    if (work.broken) return (enum cli_exit)work.broken;
    code = say_unstored(worker);
    if (code != EXIT_DONE) return code;
    return work_options.drain && work_event_count(TP_EVENT_GAVE_UP) ? EXIT_GAVE_UP : EXIT_DONE;
}

static void leave_signals(void) {
    (void)signal(SIGINT, SIG_DFL);
    (void)signal(SIGTERM, SIG_DFL);
    (void)signal(SIGHUP, SIG_DFL);
}

/* Programs make their files as the user wants it; a database file that is not there yet is made as all other
 * commands do. */
static enum cli_exit try_connection(tp_env *env, const tp_worker_options *options) {
    tp_conn *conn = NULL;
    mode_t theirs = args_own_files();
    tp_status status = tp_conn_open(env, &conn);
    enum cli_exit code = status == TP_OK ? EXIT_DONE : cli_fail_tp(status);

    if (status == TP_OK) work_report_keep(options, conn);
    tp_conn_close(conn);
    (void)umask(theirs);
    return code;
}

enum cli_exit work_command(const char **args) {
    tp_worker_options worker_options = TP_WORKER_INIT;
    tp_retry retry = TP_RETRY_INIT;
    tp_env *env = NULL;
    tp_worker *worker = NULL;
    tp_status status;
    enum cli_exit code;

    (void)args;
    if (!work_options.handlers || !work_options.handlers[0]) args_fail("--handler NAME=PROGRAM is missing");
    work_read_options(&worker_options, &retry);
    work_log_begin();
    service_begin();
    worker_options.on_event = work_on_event;
    if (work_options.alert) {
        worker_options.alert_arg = find_program(work_options.alert);
        if (!worker_options.alert_arg) return EXIT_PROGRAM;
        if (work_options.alert_group)
            worker_options.on_alert_group = handle_alert_group;
        else
            worker_options.on_alert = handle_alert;
    }
    code = args_open_env(&env);
    if (code != EXIT_DONE) return code;
    status = tp_worker_open(env, &worker_options, &worker);
    code = status == TP_OK ? try_connection(env, &worker_options) : cli_fail_tp(status);
    if (code == EXIT_DONE) code = run(worker);
    leave_signals();
    code = cli_finish(code); /* its thread may stop the worker, so it ends first */
    tp_worker_close(worker);
    tp_env_close(env);
    return code;
}
