/* See work_report.h. */
#include "work_report.h"

#include <json-c/json.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/args.h"
#include "common/clocks.h"
#include "common/values.h"
#include "work_events.h"
#include "work_options.h"

enum { AGAIN_MS = 10000, LINE_SIZE = 8192, HOST_SIZE = 256 };

/* What runs of a handler. */
struct handler {
    char name[TP_HANDLER_MAX + 1];
    int running;
};

static struct {
    pthread_mutex_t lock; /* guards what the programs' threads change: running, next_at, until */
    struct handler *handlers;
    size_t handler_count;
    int64_t next_at; /* by clock_ms; 0: nothing was said of a stop yet */
    int64_t until;   /* UTC, in ms, when programs are ended; 0: never */
    int64_t stop_ms;

    char host[HOST_SIZE], name[HOST_SIZE];
    char pool[1024], server[128], database[256], plan[32], retry[512];
    int threads, threads_max;
    int64_t lease_ms;
} report = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Appends to a line as much as there is room for. */
static void append(char *line, size_t size, const char *before, const char *text) {
    size_t used = strlen(line);

    if (used < size - 1) snprintf(line + used, size - used, "%s%s", used ? before : "", text);
}

/* ---- The start ----------------------------------------------------------------------------------------- */

static void keep_handlers(void) {
    const char **options = work_options.handlers;
    size_t count = 0;

    while (options[count])
        count++;
    report.handlers = cli_must(calloc(count + 1, sizeof *report.handlers));
    report.handler_count = count;
    for (size_t i = 0; i < count; i++)
        snprintf(report.handlers[i].name, sizeof report.handlers[i].name, "%.*s",
                 (int)strcspn(options[i], "="), options[i]);
}

static void keep_retry(const tp_retry *retry) {
    char text[TIME_TEXT_SIZE];

    report.retry[0] = '\0';
    for (size_t i = 0; i < retry->count; i++)
        append(report.retry, sizeof report.retry, ",", value_duration_text(retry->delays_ms[i], text));
    if (!retry->count) append(report.retry, sizeof report.retry, "", "none");
}

void work_report_keep(const tp_worker_options *options, const tp_conn *conn) {
    const tp_conn_info *info = tp_conn_about(conn);

    if (gethostname(report.host, sizeof report.host - 1) != 0) report.host[0] = '\0';
    if (options->name)
        snprintf(report.name, sizeof report.name, "%s", options->name);
    else
        snprintf(report.name, sizeof report.name, "%.200s:%ld", report.host, (long)getpid());
    snprintf(report.server, sizeof report.server, "%s", info->server);
    snprintf(report.database, sizeof report.database, "%s", info->database);
    snprintf(report.pool, sizeof report.pool, "%s%s%s%s%s (%s %s, prefix %s)", info->dialect,
             *info->database ? ", " : "", info->database, *info->server ? " on " : "", info->server,
             info->dbms_name, info->dbms_version, info->prefix);
    snprintf(report.plan, sizeof report.plan, "%s", options->plan ? options->plan : info->plan);
    report.threads = options->threads ? options->threads : 4;
    report.threads_max = options->threads_max > report.threads ? options->threads_max : report.threads;
    report.lease_ms = options->lease_ms ? options->lease_ms : 60000;
    report.stop_ms = options->stop_ms;
    keep_handlers();
    keep_retry(options->retry);
}

static struct json_object *names_of_handlers(void) {
    struct json_object *list = cli_must(json_object_new_array());

    for (size_t i = 0; i < report.handler_count; i++)
        json_object_array_add(list, cli_must(json_object_new_string(report.handlers[i].name)));
    return list;
}

void work_report_started(void) {
    char line[LINE_SIZE], handlers[LINE_SIZE / 2] = "", threads[64], lease[TIME_TEXT_SIZE];

    for (size_t i = 0; i < report.handler_count; i++)
        append(handlers, sizeof handlers, " ", report.handlers[i].name);
    snprintf(threads, sizeof threads, report.threads_max > report.threads ? "%d to %d" : "%d", report.threads,
             report.threads_max);
    snprintf(line, sizeof line,
             "%s, process %ld on %s; pool %s; plan %s; handlers %s; threads %s; lease %s; retry %s",
             report.name, (long)getpid(), report.host, report.pool, report.plan, handlers, threads,
             value_duration_text(report.lease_ms, lease), report.retry);
    work_print_report(
        "started", line,
        MEMBERS(MEMBER_TEXT("name", report.name), MEMBER_TEXT("host", report.host),
                MEMBER_NUMBER("pid", getpid()), MEMBER_TEXT("pool", report.pool),
                MEMBER_TEXT("server", report.server), MEMBER_TEXT("database", report.database),
                MEMBER_TEXT("plan", report.plan), MEMBER_JSON("handlers", names_of_handlers()),
                MEMBER_NUMBER("threads", report.threads), MEMBER_NUMBER("threads_max", report.threads_max),
                MEMBER_NUMBER("lease_ms", report.lease_ms), MEMBER_TEXT("retry", report.retry)));
}

/* ---- The stop ------------------------------------------------------------------------------------------ */

static void add(const char *handler, int more) {
    pthread_mutex_lock(&report.lock);
    for (size_t i = 0; i < report.handler_count; i++)
        if (strcmp(report.handlers[i].name, handler) == 0) report.handlers[i].running += more;
    pthread_mutex_unlock(&report.lock);
}

void work_report_begin(const char *handler) {
    add(handler, 1);
}

void work_report_end(const char *handler) {
    add(handler, -1);
}

/* Of what runs: "pay 2, mail 1" and the same as an object. Under the lock. Gives how many. */
static int sum_up(char *text, size_t size, struct json_object *object) {
    int sum = 0;

    for (size_t i = 0; i < report.handler_count; i++) {
        const struct handler *handler = &report.handlers[i];
        char one[TP_HANDLER_MAX + 32];

        if (!handler->running) continue;
        sum += handler->running;
        snprintf(one, sizeof one, "%s %d", handler->name, handler->running);
        append(text, size, ", ", one);
        json_add(object, MEMBERS(MEMBER_NUMBER(handler->name, handler->running)));
    }
    return sum;
}

static void print_stopping(int sum, const char *what, struct json_object *handlers) {
    char line[LINE_SIZE], until[TIME_TEXT_SIZE] = "";

    if (report.until) value_time_text(report.until, until);
    snprintf(line, sizeof line, "%d program%s still running: %s; %s%s", sum, sum == 1 ? " is" : "s are", what,
             *until ? "ended at " : "however long they take (no --stop-after)", until);
    work_print_report("stopping", line,
                      MEMBERS(MEMBER_NUMBER("running", sum), MEMBER_JSON("handlers", handlers),
                              MEMBER_TEXT("until", until)));
}

void work_report_stopping(void) {
    char what[LINE_SIZE / 2] = "";
    struct json_object *handlers = NULL;
    int64_t now = clock_ms();
    int sum = 0;

    pthread_mutex_lock(&report.lock);
    if (now >= report.next_at) {
        if (!report.next_at && report.stop_ms) report.until = clock_utc_ms() + report.stop_ms;
        report.next_at = now + AGAIN_MS;
        handlers = json_new();
        sum = sum_up(what, sizeof what, handlers);
    }
    pthread_mutex_unlock(&report.lock);
    if (handlers) print_stopping(sum, what, handlers);
}
