/* Traces tasks: the producer puts W3C trace context (https://www.w3.org/TR/trace-context/) in front of the
 * parameters, and a hook around every handler makes a span of the handler's call and writes it down when it
 * ends, as a line of JSON for a collector. The handler itself knows nothing of it.
 *
 *   export TASKPOOL_DSN='Driver=SQLite3;Database=/tmp/shop.db'
 *   taskpool schema install
 *   ./traced put 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01 100
 *   ./traced work
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <taskpool.h>

/* version-trace-span-flags: 00-32 digits-16 digits-2 digits; then a new line and what is the handler's. */
enum { TRACE_PARENT = 55, TRACE_AT = 3, TRACE = 32, SPAN_AT = 36, SPAN = 16 };

static int is_trace_parent(const char *text) {
    for (int i = 0; i < TRACE_PARENT; i++) {
        int dash = i == 2 || i == 35 || i == 52;
        if (dash ? text[i] != '-' : !text[i] || !strchr("0123456789abcdef", text[i])) return 0;
    }
    return strncmp(text, "00", 2) == 0 &&
           strncmp(text + TRACE_AT, "00000000000000000000000000000000", TRACE) != 0 &&
           strncmp(text + SPAN_AT, "0000000000000000", SPAN) != 0;
}

struct span {
    char trace[TRACE + 1], parent[SPAN + 1], id[SPAN + 1];
    struct timespec began;
};

static int random_span(char id[SPAN + 1]) {
    unsigned char bytes[SPAN / 2];
    FILE *file = fopen("/dev/urandom", "rb");
    int read = file && fread(bytes, sizeof bytes, 1, file) == 1;
    if (file) fclose(file);
    for (int i = 0; read && i < SPAN / 2; i++)
        snprintf(id + 2 * i, 3, "%02x", (unsigned)bytes[i]);
    return read;
}

/* Tracing is no reason for a task to fail: without context, memory or random bytes there is no span. */
static tp_verdict begin_span(tp_run *run, void **context, void *arg) {
    const char *params = NULL;
    struct span *span = NULL;
    (void)arg;

    if (tp_run_params(run, &params, NULL) == TP_OK && is_trace_parent(params)) span = calloc(1, sizeof *span);
    if (span && !random_span(span->id)) {
        free(span);
        span = NULL;
    }
    if (!span) return TP_RUN_DONE;
    memcpy(span->trace, params + TRACE_AT, TRACE);
    memcpy(span->parent, params + SPAN_AT, SPAN);
    clock_gettime(CLOCK_MONOTONIC, &span->began);
    *context = span;
    return TP_RUN_DONE;
}

static void end_span(tp_run *run, tp_verdict verdict, void *context, void *arg) {
    struct span *span = context;
    struct timespec now;
    (void)arg;

    if (!span) return;
    clock_gettime(CLOCK_MONOTONIC, &now);
    printf("{\"traceId\":\"%s\",\"parentSpanId\":\"%s\",\"spanId\":\"%s\",\"name\":\"%s\",\"ms\":%ld,\"ok\":%"
           "s}\n",
           span->trace, span->parent, span->id, tp_run_task(run)->handler,
           (long)(now.tv_sec - span->began.tv_sec) * 1000 + (now.tv_nsec - span->began.tv_nsec) / 1000000,
           verdict == TP_RUN_FAILED ? "false" : "true");
    fflush(stdout);
    free(span);
}

static tp_verdict grant_points(tp_run *run, void *arg) {
    const char *params = NULL;
    (void)arg;

    if (tp_run_params(run, &params, NULL) != TP_OK) return TP_RUN_FAILED;
    if (is_trace_parent(params)) params += strcspn(params, "\n");
    fprintf(stderr, "%ld points\n", strtol(params, NULL, 10));
    return TP_RUN_DONE;
}

static tp_status put(tp_env *env, const char *trace_parent, const char *points) {
    char params[200];
    tp_conn *conn = NULL;
    tp_new_task task = TP_NEW_TASK_INIT;

    snprintf(params, sizeof params, "%s\n%s", trace_parent, points);
    task.handler = "traced-points";
    task.params = params;
    tp_status status = tp_conn_open(env, &conn);
    if (status == TP_OK) status = tp_enqueue(conn, &task);
    tp_conn_close(conn);
    return status;
}

/* Until no task is left. */
static tp_status work(tp_env *env) {
    const tp_hook hooks[] = {{sizeof(tp_hook), begin_span, end_span, NULL}};
    tp_worker_options options = TP_WORKER_INIT;
    tp_worker *worker = NULL;

    options.hooks = hooks;
    options.hook_count = 1;
    options.drain = 1;
    tp_status status = tp_worker_open(env, &options, &worker);
    if (status == TP_OK) status = tp_worker_handle(worker, "traced-points", grant_points, NULL);
    if (status == TP_OK) status = tp_worker_start(worker);
    if (status == TP_OK) status = tp_worker_join(worker);
    tp_worker_close(worker);
    return status;
}

int main(int argc, char **argv) {
    const char *dsn = getenv("TASKPOOL_DSN");
    tp_env *env = NULL;
    int puts_one = argc == 4 && strcmp(argv[1], "put") == 0;

    if (!dsn || !(puts_one || (argc == 2 && strcmp(argv[1], "work") == 0))) {
        fprintf(stderr, "set TASKPOOL_DSN; usage: %s put TRACEPARENT POINTS | work\n", argv[0]);
        return 2;
    }
    tp_status status = tp_env_open(dsn, &env);
    if (status == TP_OK) status = puts_one ? put(env, argv[2], argv[3]) : work(env);
    if (status < TP_OK) fprintf(stderr, "%s: %s\n", argv[0], tp_last_error()->text);
    tp_env_close(env);
    return status < TP_OK;
}
