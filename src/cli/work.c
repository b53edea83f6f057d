/* taskpool work: the options, the worker's life, and what it says. What a handler does: handle.c. */
#include "args.h"

#include <json-c/json.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "child.h"
#include "handle.h"
#include "program.h"
#include "table.h"
#include "values.h"

#define DELAYS_MAX 64

static struct {
    const char **handlers; /* NAME=PROGRAM, then NULL */
    char *threads, *batch, *lease, *poll, *retry, *timeout, *later;
    int drain, verbose;
} options;

static struct poptOption table[] = {
    {"handler", '\0', POPT_ARG_ARGV, &options.handlers, 0,
     "run PROGRAM on the tasks of NAME; may be given many times", "NAME=PROGRAM"},
    OPTION_TEXT("threads", '\0', &options.threads, "N", "programs at the same time (4)"),
    OPTION_TEXT("batch", '\0', &options.batch, "N", "tasks in one claim (100)"),
    OPTION_TEXT("lease", '\0', &options.lease, "TIME",
                "how long a claim holds without sign of life (60s); it is extended while a program runs"),
    OPTION_TEXT("poll", '\0', &options.poll, "TIME", "pause when nothing is due (1s)"),
    OPTION_TEXT("retry", '\0', &options.retry, "LIST", "pauses after failures (1m,5m,20m), or none"),
    OPTION_TEXT("timeout", '\0', &options.timeout, "TIME",
                "end a program that runs longer; a failure (no limit)"),
    OPTION_TEXT("later", '\0', &options.later, "TIME", "when a task is due again after exit code 75 (30s)"),
    OPTION_FLAG("drain", '\0', &options.drain, "end when no task of these handlers is open"),
    OPTION_FLAG("verbose", 'v', &options.verbose, "tell about every task, done ones too"),
    COMMON_OPTIONS,
    POPT_TABLEEND,
};

static const struct usage usage = {
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
        "end, a\n"
        "second one ends them, a third kills all.\n",
    "  taskpool work --handler points=./grant.sh --handler mail=/opt/app/mail --threads 8\n"
    "  taskpool work --handler pay=./pay.sh --retry 10s,1m --timeout 5m --drain\n",
    table,
    0,
    0,
};

/* Times events were told; by the worker one at a time, by us after the join. */
static long long counts[TP_EVENT_COUNT];

/* ---- What it says ------------------------------------------------------------------------------------ */

static const char *now_text(char text[TIME_TEXT_SIZE]) {
    struct timespec now;

    (void)clock_gettime(CLOCK_REALTIME, &now);
    return value_time_text((int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000, text);
}

static void print_event_object(tp_event event, const tp_task *task, const char *text) {
    json_object *object = cli_must(json_object_new_object());
    char time_text[TIME_TEXT_SIZE];

    json_put_text(object, "event", tp_event_name(event));
    json_put_text(object, "time", now_text(time_text));
    if (task) {
        json_put_text(object, "id", task->id);
        json_put_text(object, "handler", task->handler);
        json_put_text(object, "biz_key", task->biz_key);
        json_put_number(object, "failures", task->failures);
    }
    json_put_text(object, "text", text);
    out_json(object);
}

static void print_event_line(tp_event event, const tp_task *task, const char *text) {
    char *shown = table_escape(text ? text : "");
    char time_text[TIME_TEXT_SIZE];

    fprintf(stderr, "%s %-8s %s%s%s%s%s\n", now_text(time_text), tp_event_name(event),
            task ? task->handler : "", task ? " " : "", task ? task->id : "", shown && *shown ? " " : "",
            shown ? shown : "");
    free(shown);
}

static bool is_routine(tp_event event) {
    return event == TP_EVENT_CLAIMED || event == TP_EVENT_DONE || event == TP_EVENT_RELEASED;
}

static void on_event(tp_event event, const tp_task *task, const char *text, void *arg) {
    (void)arg;
    if ((int)event >= 0 && event < TP_EVENT_COUNT) counts[event]++;
    if (common.json)
        print_event_object(event, task, text);
    else if (options.verbose || (!common.quiet && !is_routine(event)))
        print_event_line(event, task, text);
    work_check_output();
}

/* X(event): those that say what became of a task */
#define RESULT_LIST(X)                                                                                       \
    X(TP_EVENT_DONE)                                                                                         \
    X(TP_EVENT_SKIPPED)                                                                                      \
    X(TP_EVENT_RETRY)                                                                                        \
    X(TP_EVENT_GAVE_UP)                                                                                      \
    X(TP_EVENT_RELEASED)                                                                                     \
    X(TP_EVENT_LOST)

static void tell_summary(void) {
    static const tp_event results[] = {
#define RESULT_ROW(event) event,
        RESULT_LIST(RESULT_ROW)
#undef RESULT_ROW
    };
    json_object *object = common.json ? cli_must(json_object_new_object()) : NULL;

    if (object) json_put_text(object, "event", "summary");
    for (size_t i = 0; i < sizeof results / sizeof results[0]; i++) {
        const char *name = tp_event_name(results[i]);

        if (object)
            json_put_number(object, name, counts[results[i]]);
        else if (!common.quiet)
            out_text("%s%s %lld", i ? ", " : "", name, counts[results[i]]);
    }
    if (object)
        out_json(object);
    else if (!common.quiet)
        out_text("\n");
}

/* ---- Stopping ---------------------------------------------------------------------------------------- */

/* The third signal takes everything down: programs, then the worker; leases bring its tasks back. */
static void on_stop(int number) {
    if (atomic_fetch_add(&work.stops, 1) < 2) {
        tp_worker_stop(work.worker);
        return;
    }
    child_kill_all();
    (void)signal(number, SIG_DFL);
    (void)raise(number);
}

static void catch_signal(int number) {
    struct sigaction action;

    if (sigaction(number, NULL, &action) != 0 || action.sa_handler == SIG_IGN) return; /* nohup */
    memset(&action, 0, sizeof action);
    action.sa_handler = on_stop;
    action.sa_flags = SA_RESTART;
    (void)sigaction(number, &action, NULL);
}

/* ---- Starting ---------------------------------------------------------------------------------------- */

/* The worker points into these until it is closed. */
static char **paths;
static size_t path_count;

static void keep_path(char *path) {
    paths = cli_must(realloc(paths, (path_count + 1) * sizeof *paths));
    paths[path_count++] = path;
}

static enum cli_exit add_handler(tp_worker *worker, const char *option) {
    const char *mark = strchr(option, '=');
    char name[TP_HANDLER_MAX + 1];
    char *path;
    tp_status status;

    if (!mark || mark == option || mark[1] == '\0')
        return args_fail("--handler must be NAME=PROGRAM, not \"%s\"", option);
    if ((size_t)(mark - option) > TP_HANDLER_MAX)
        return args_fail("a handler name has at most %d bytes", TP_HANDLER_MAX);
    snprintf(name, sizeof name, "%.*s", (int)(mark - option), option);
    path = program_find(mark + 1);
    if (!path) return EXIT_PROGRAM;
    keep_path(path);
    status = tp_worker_handle(worker, name, handle_task, path);
    return status == TP_OK ? EXIT_DONE : cli_fail_tp(status);
}

/* 1m,5m,20m or none. False: the mistake was told. */
static bool read_retry(const char *text, tp_retry *retry) {
    static int64_t delays[DELAYS_MAX];
    char part[32];
    size_t length;

    retry->size = sizeof *retry;
    retry->delays_ms = delays;
    if (strcmp(text, "none") == 0) return true;
    for (;; text += length + 1) {
        length = strcspn(text, ",");
        if (length >= sizeof part || retry->count == DELAYS_MAX) break;
        snprintf(part, sizeof part, "%.*s", (int)length, text);
        if (!value_duration(part, &delays[retry->count])) break;
        retry->count++;
        if (text[length] == '\0') return true;
    }
    (void)args_fail("--retry must be a list like 1m,5m,20m (%d pauses at most, each up to 36525d), or none",
                    DELAYS_MAX);
    return false;
}

static bool read_options(tp_worker_options *worker, tp_retry *retry) {
    int64_t threads = 0;
    int64_t batch = 0;

    work.later_ms = 30000;
    if (!args_integer("--threads", options.threads, 1, CHILDREN_MAX, &threads) ||
        !args_integer("--batch", options.batch, 1, TP_CLAIM_MAX, &batch) ||
        !args_duration("--lease", options.lease, &worker->lease_ms) ||
        !args_duration("--poll", options.poll, &worker->poll_ms) ||
        !args_duration("--timeout", options.timeout, &work.timeout_ms) ||
        !args_duration("--later", options.later, &work.later_ms) ||
        (options.retry && !read_retry(options.retry, retry)))
        return false;
    worker->threads = (int)threads;
    worker->batch = (size_t)batch;
    worker->retry = options.retry ? retry : NULL;
    worker->drain = options.drain;
    worker->on_event = on_event;
    return true;
}

static enum cli_exit start(tp_worker *worker) {
    enum cli_exit code = EXIT_DONE;
    tp_status status;

    for (size_t i = 0; options.handlers[i] && code == EXIT_DONE; i++)
        code = add_handler(worker, options.handlers[i]);
    if (code != EXIT_DONE) return code;
    work.worker = worker;
    (void)signal(SIGCHLD, SIG_DFL); /* ignored, it would make programs end unseen */
    catch_signal(SIGINT);
    catch_signal(SIGTERM);
    catch_signal(SIGHUP);
    status = tp_worker_start(worker);
    return status == TP_OK ? EXIT_DONE : cli_fail_tp(status);
}

static enum cli_exit run(tp_worker *worker) {
    enum cli_exit code = start(worker);
    tp_status status;

    if (code != EXIT_DONE) return code;
    status = tp_worker_join(worker);
    tell_summary();
    if (status < 0) return cli_fail_tp(status);
    if (work.broken) return (enum cli_exit)work.broken;
    return options.drain && counts[TP_EVENT_GAVE_UP] ? EXIT_GAVE_UP : EXIT_DONE;
}

static void leave_signals(void) {
    (void)signal(SIGINT, SIG_DFL);
    (void)signal(SIGTERM, SIG_DFL);
    (void)signal(SIGHUP, SIG_DFL);
}

enum cli_exit work_command(int argc, const char **argv) {
    tp_worker_options worker_options = TP_WORKER_INIT;
    tp_retry retry = TP_RETRY_INIT;
    tp_env *env = NULL;
    tp_worker *worker = NULL;
    tp_status status;
    const char **args;
    enum cli_exit code = EXIT_DONE;

    if (!args_read(&usage, argc, argv, &args, &code)) return code;
    if (!options.handlers || !options.handlers[0]) return args_fail("--handler NAME=PROGRAM is missing");
    if (!read_options(&worker_options, &retry)) return EXIT_USAGE;
    (void)setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
    code = args_open_env(&env);
    if (code != EXIT_DONE) return code;
    status = tp_worker_open(env, &worker_options, &worker);
    code = status == TP_OK ? run(worker) : cli_fail_tp(status);
    leave_signals();
    tp_worker_close(worker);
    tp_env_close(env);
    return code;
}
