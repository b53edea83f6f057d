/* See raw.h: command line, threads, clock and output of the raw programs. */
#include "raw.h"

#include <errno.h>
#include <getopt.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

enum { LEASE_MS = 60000, PRIORITY_MIN = -32768 };

struct raw_options raw_options = {
    .prefix = "raw_", .tasks = 10000, .batch = 1000, .settle = 500, .bytes = 8, .connections = 1};

atomic_long raw_statements;

/* A claim token or a task's id: unique in one run, and in order, as the library's ids are. */
static void make_id(char id[RAW_ID_SIZE]) {
    static atomic_uint_fast64_t counter;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    unsigned long long ms = (unsigned long long)now.tv_sec * 1000 + (unsigned long long)now.tv_nsec / 1000000;
    unsigned long long count = atomic_fetch_add(&counter, 1);
    snprintf(id, RAW_ID_SIZE, "%08x-%04x-7%03x-8%03x-%012llx", (unsigned)(ms >> 16), (unsigned)ms & 0xffff,
             (unsigned)(count >> 20) & 0xfff, (unsigned)(count >> 8) & 0xfff,
             (count & 0xff) << 40 | ((unsigned long long)rand() & 0x7fffffff));
}

/* ---- For the programs ---------------------------------------------------------------------------------- */

void raw_die(const char *format, ...) {
    va_list args;
    va_start(args, format);
    fprintf(stderr, "%s: ", program_invocation_short_name);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    exit(EXIT_FAILURE);
}

void raw_expect_rows(const char *statement, uint64_t rows, size_t expected) {
    if (rows != expected)
        raw_die("%s changed %llu rows, not %zu", statement, (unsigned long long)rows, expected);
}

/* [id, ...] as JSON. */
static const char *write_ids(const struct raw_values *values) {
    static _Thread_local char document[RAW_LIST_MAX * (RAW_ID_SIZE + 2) + 2];
    size_t length = 0;
    if (values->count > RAW_LIST_MAX) raw_die("%zu tasks are too many for a document of ids", values->count);
    for (size_t i = 0; i < values->count; i++)
        length += (size_t)snprintf(document + length, sizeof document - length, "%c\"%s\"", i ? ',' : '[',
                                   values->tasks[i].id);
    memcpy(document + length, "]", 2);
    return document;
}

const char *raw_text(const char *name, const struct raw_values *values) {
    if (strcmp(name, "token") == 0) return values->token;
    if (strcmp(name, "state") == 0) return values->task ? values->task->state : "done";
    if (strcmp(name, "id") == 0 && values->task) return values->task->id;
    if (strcmp(name, "shard") == 0) return NULL;
    if (strcmp(name, "handlers") == 0 || strcmp(name, "handler") == 0) return RAW_HANDLER;
    if (strcmp(name, "document") == 0) return values->document;
    if (strcmp(name, "ids_document") == 0) return write_ids(values);
    raw_die("parameter %s: no value for it", name);
}

/* All tasks have priority 0, of one handler there is one scope, and it is looked at from its head. */
bool raw_number(const char *name, const struct raw_values *values, int64_t *number) {
    if (strcmp(name, "due_at") == 0 && values->task)
        *number = values->task->due_at;
    else if (strcmp(name, "modified_at") == 0 && values->task)
        *number = values->task->modified_at;
    else if (strcmp(name, "limit") == 0)
        *number = (int64_t)values->limit;
    else if (strcmp(name, "window") == 0)
        *number = (int64_t)values->window;
    else if (strcmp(name, "lease_ms") == 0)
        *number = LEASE_MS;
    else if (strcmp(name, "ahead") == 0)
        *number = PRIORITY_MIN;
    else if (strcmp(name, "priority") == 0 || strcmp(name, "at") == 0 || strcmp(name, "since") == 0)
        *number = 0;
    else
        return false;
    return true;
}

/* ---- What a connection does ---------------------------------------------------------------------------- */

static atomic_long left, handled;

/* How many of the tasks that are left this connection may put in now. */
static size_t take_share(void) {
    long had = atomic_load(&left), share = 0;
    do
        share = had < raw_options.batch ? had : raw_options.batch;
    while (share > 0 && !atomic_compare_exchange_weak(&left, &had, had - share));
    return share > 0 ? (size_t)share : 0;
}

static void enqueue_all(struct raw_session *session) {
    char id[RAW_ID_SIZE], *params = malloc((size_t)raw_options.bytes + 1), *document = NULL;
    if (!params) raw_die("out of memory");
    memset(params, 'x', (size_t)raw_options.bytes);
    params[raw_options.bytes] = '\0';
    for (size_t count = take_share(); count; count = take_share()) {
        size_t length = 0;
        FILE *out = open_memstream(&document, &length);
        if (!out) raw_die("out of memory");
        for (size_t i = 0; i < count; i++) {
            make_id(id);
            fprintf(out, "%c[\"%s\",\"" RAW_HANDLER "\",\"%s\"]", i ? ',' : '[', id, params);
        }
        fputc(']', out);
        if (fclose(out) != 0) raw_die("out of memory");
        raw_enqueue(session, document, count);
        atomic_fetch_add(&handled, (long)count);
        free(document);
    }
    free(params);
}

static void settle_groups(struct raw_session *session, const char *token, const struct raw_task *tasks,
                          size_t count) {
    size_t group = (size_t)raw_options.settle;
    for (size_t at = 0; at < count; at += group)
        raw_settle(session, token, tasks + at, count - at < group ? count - at : group);
}

static void lease_all(struct raw_session *session) {
    char token[RAW_ID_SIZE];
    struct raw_task tasks[RAW_CLAIM_MAX];
    size_t count = 0;
    do {
        make_id(token);
        count = raw_claim(session, token, (size_t)raw_options.batch, tasks);
        settle_groups(session, token, tasks, count);
        atomic_fetch_add(&handled, (long)count);
    } while (count);
}

static void hold_all(struct raw_session *session) {
    char token[RAW_ID_SIZE];
    struct raw_task tasks[RAW_CLAIM_MAX];
    size_t count = 0;
    do {
        make_id(token);
        count = raw_hold(session, token, (size_t)raw_options.batch, tasks);
        atomic_fetch_add(&handled, (long)count);
    } while (count);
}

static const struct work {
    const char *name;
    void (*run)(struct raw_session *session);
    long batch_max;
} works[] = {{"enqueue", enqueue_all, RAW_CLAIM_MAX},
             {"lease", lease_all, RAW_CLAIM_MAX},
             {"hold", hold_all, RAW_LIST_MAX}};

/* ---- Threads and clock --------------------------------------------------------------------------------- */

struct connection {
    pthread_t thread;
    struct raw_session *session;
    const struct work *work;
};

static void *run_connection(void *arg) {
    struct connection *connection = arg;
    connection->work->run(connection->session);
    return NULL;
}

static double seconds_of(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Connecting is not counted. */
static double run_connections(const struct work *work) {
    static struct connection connections[RAW_CONNECTIONS_MAX];
    size_t count = (size_t)raw_options.connections;
    for (size_t i = 0; i < count; i++)
        connections[i] = (struct connection){.session = raw_open(), .work = work};
    atomic_store(&raw_statements, 0);
    double began = seconds_of(CLOCK_MONOTONIC);
    for (size_t i = 0; i < count; i++)
        if (pthread_create(&connections[i].thread, NULL, run_connection, &connections[i]) != 0)
            raw_die("no thread to be had");
    for (size_t i = 0; i < count; i++)
        pthread_join(connections[i].thread, NULL);
    double seconds = seconds_of(CLOCK_MONOTONIC) - began;
    for (size_t i = 0; i < count; i++)
        raw_close(connections[i].session);
    return seconds;
}

/* ---- Command line -------------------------------------------------------------------------------------- */

static const struct option long_options[] = {
    {"target", required_argument, NULL, 't'},      {"prefix", required_argument, NULL, 'p'},
    {"tasks", required_argument, NULL, 'n'},       {"batch", required_argument, NULL, 'b'},
    {"settle", required_argument, NULL, 's'},      {"bytes", required_argument, NULL, 'y'},
    {"connections", required_argument, NULL, 'c'}, {0}};

static long number_of(const char *text, long most) {
    char *end = NULL;
    long number = strtol(text, &end, 10);
    if (end == text || *end || number < 1 || number > most)
        raw_die("%s: a number from 1 to %ld is wanted", text, most);
    return number;
}

static bool take_option(int option) {
    switch (option) {
    case 't':
        raw_options.target = optarg;
        return true;
    case 'p':
        raw_options.prefix = optarg;
        return true;
    case 'n':
        raw_options.tasks = number_of(optarg, 100000000);
        return true;
    case 'b':
        raw_options.batch = number_of(optarg, RAW_CLAIM_MAX);
        return true;
    case 's':
        raw_options.settle = number_of(optarg, RAW_LIST_MAX);
        return true;
    case 'y':
        raw_options.bytes = number_of(optarg, 1024 * 1024);
        return true;
    case 'c':
        raw_options.connections = number_of(optarg, RAW_CONNECTIONS_MAX);
        return true;
    default:
        return false;
    }
}

static const struct work *read_command_line(int argc, char **argv) {
    int option;
    while ((option = getopt_long(argc, argv, "", long_options, NULL)) != -1)
        if (!take_option(option)) exit(2);
    for (size_t i = 0; i < sizeof works / sizeof works[0] && optind == argc - 1; i++)
        if (strcmp(argv[optind], works[i].name) == 0 && raw_options.target) return &works[i];
    fprintf(stderr,
            "usage: %s enqueue|lease|hold --target WHERE [--prefix P] [--tasks N] [--batch N] [--settle N] "
            "[--bytes N]"
            " [--connections N]\n",
            program_invocation_short_name);
    exit(2);
}

int main(int argc, char **argv) {
    const struct work *work = read_command_line(argc, argv);
    if (raw_options.batch > work->batch_max) raw_options.batch = work->batch_max;
    atomic_store(&left, raw_options.tasks);
    double cpu = seconds_of(CLOCK_PROCESS_CPUTIME_ID), seconds = run_connections(work);
    cpu = seconds_of(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    long tasks = atomic_load(&handled);
    if (tasks == 0) raw_die("%s: there was no task", work->name);
    printf("{\"program\":\"%s\",\"what\":\"%s\",\"tasks\":%ld,\"batch\":%ld,\"settle\":%ld,\"bytes\":%ld,"
           "\"connections\":%ld,"
           "\"statements\":%ld,\"seconds\":%.4f,\"per_s\":%.0f,\"cpu_us_per_task\":%.2f}\n",
           program_invocation_short_name, work->name, tasks, raw_options.batch, raw_options.settle,
           raw_options.bytes, raw_options.connections, atomic_load(&raw_statements), seconds,
           (double)tasks / seconds, cpu * 1e6 / (double)tasks);
    return EXIT_SUCCESS;
}
