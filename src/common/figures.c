/* See figures.h. Six short reads, in a transaction of their own each: what changes between them may be
 * counted twice, or not at all. */
#include "figures.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "counters.h"
#include "messages.h"

/* As many bytes of a worker's column of handlers; one that is nearly full may leave names out. */
enum { HANDLERS_ALL_FIT = 512 - TP_HANDLER_MAX - 1, HELD_READ_MAX = 1000 };

static void copy(char *to, size_t size, const char *text) {
    snprintf(to, size, "%s", text ? text : "");
}

static struct handler_figures *handler_of(struct figures *figures, const char *name) {
    struct handler_figures *handler;

    for (size_t i = 0; i < figures->handler_count; i++)
        if (strcmp(figures->handlers[i].name, name) == 0) return &figures->handlers[i];
    figures->handlers =
        cli_must(realloc(figures->handlers, (figures->handler_count + 1) * sizeof *figures->handlers));
    handler = &figures->handlers[figures->handler_count++];
    memset(handler, 0, sizeof *handler);
    copy(handler->name, sizeof handler->name, name);
    return handler;
}

/* ---- Tasks --------------------------------------------------------------------------------------------- */

static void add_stat(const tp_stat *stat, void *arg) {
    struct handler_figures *handler = handler_of(arg, stat->handler);

    if (strcmp(stat->pool, "failed") == 0) {
        handler->failed += stat->count;
        return;
    }
    if (strcmp(stat->state, "pending") == 0) handler->pending += stat->count;
    if (strcmp(stat->state, "failed") == 0) handler->retrying += stat->count;
    if (strcmp(stat->state, "handling") == 0) {
        handler->handling += stat->count;
        handler->lapsed += stat->due;
    }
    handler->due += stat->due;
    if (stat->oldest_due && (!handler->due_since || stat->oldest_due < handler->due_since))
        handler->due_since = stat->oldest_due;
}

static void add_recent(const tp_recent *recent, void *arg) {
    struct handler_figures *handler = handler_of(arg, recent->handler);

    if (strcmp(recent->event, "enqueued") == 0)
        handler->enqueued += recent->count;
    else if (strcmp(recent->event, "failed") == 0)
        handler->gave_up += recent->count;
    else
        handler->finished += recent->count;
}

void figures_add_times(tp_histogram *sum, const tp_histogram *times) {
    sum->sum_ms += times->sum_ms;
    if (times->max_ms > sum->max_ms) sum->max_ms = times->max_ms;
    for (size_t i = 0; i < TP_HISTOGRAM_BUCKETS; i++)
        sum->counts[i] += times->counts[i];
}

static void add_activity(const tp_activity *activity, void *arg) {
    struct handler_figures *handler = handler_of(arg, activity->handler);

    figures_add_times(&handler->wait, &activity->wait);
    figures_add_times(&handler->run, &activity->run);
}

static void add_counted(const tp_activity *activity, void *arg) {
    tp_activity *sum = &handler_of(arg, activity->handler)->counted;

    sum->done += activity->done;
    sum->failed += activity->failed;
    sum->gave_up += activity->gave_up;
    sum->skipped += activity->skipped;
    sum->released += activity->released;
    sum->lost += activity->lost;
    figures_add_times(&sum->wait, &activity->wait);
    figures_add_times(&sum->run, &activity->run);
}

static void add_paused(const tp_paused *paused, void *arg) {
    struct handler_figures *handler = handler_of(arg, paused->handler);

    handler->paused_since = paused->since ? paused->since : 1;
    copy(handler->paused_by, sizeof handler->paused_by, paused->who);
}

/* ---- Workers ------------------------------------------------------------------------------------------- */

static void count_for_handlers(struct figures *figures, const char *names) {
    char name[FIGURES_NAME_SIZE];
    size_t length;

    for (; *names; names += length + strspn(names + length, " ")) {
        length = strcspn(names, " ");
        snprintf(name, sizeof name, "%.*s", (int)length, names);
        if (length) handler_of(figures, name)->workers++;
    }
}

static void add_worker(const tp_worker_row *row, void *arg) {
    struct figures *figures = arg;
    struct worker_figures *worker;
    bool known = strcmp(row->state, "running") == 0 || strcmp(row->state, "stopping") == 0;
    bool silent = known && row->seen_ago_ms >= FIGURES_SILENT_MS;

    figures->workers =
        cli_must(realloc(figures->workers, (figures->worker_count + 1) * sizeof *figures->workers));
    worker = &figures->workers[figures->worker_count++];
    *worker = (struct worker_figures){
        .lives = known && !silent,
        .takes = !silent && strcmp(row->state, "running") == 0,
        .pid = row->pid,
        .threads = row->threads,
        .running = row->running,
        .claimed = row->claimed,
        .done = row->done,
        .failed = row->failed,
        .started_at = row->started_at,
        .seen_ago_ms = row->seen_ago_ms,
    };
    copy(worker->id, sizeof worker->id, row->id);
    copy(worker->name, sizeof worker->name, row->name);
    copy(worker->host, sizeof worker->host, row->host);
    copy(worker->state, sizeof worker->state, silent ? "silent" : row->state);
    worker->more_handlers = strlen(row->handlers) >= HANDLERS_ALL_FIT;
    if (worker->takes) count_for_handlers(figures, row->handlers);
}

/* ---- All ----------------------------------------------------------------------------------------------- */

static int by_name(const void *a, const void *b) {
    return strcmp(((const struct handler_figures *)a)->name, ((const struct handler_figures *)b)->name);
}

/* What does not fit into a worker's row may be any handler. */
static void count_maybe(struct figures *figures) {
    int count = 0;

    for (size_t i = 0; i < figures->worker_count; i++)
        count += figures->workers[i].takes && figures->workers[i].more_handlers;
    for (size_t i = 0; i < figures->handler_count; i++)
        figures->handlers[i].maybe_workers = count;
}

static void sort(struct figures *figures) {
    if (figures->handler_count)
        qsort(figures->handlers, figures->handler_count, sizeof *figures->handlers, by_name);
}

tp_status figures_read_tasks(tp_conn *conn, struct figures *figures, char *const *names, int64_t window_ms) {
    tp_activity_request activity = TP_ACTIVITY_INIT;
    tp_status status = tp_now(conn, &figures->now);

    activity.since = figures->now - FIGURES_ACTIVITY_MS;
    activity.bucket_ms = 2 * (int64_t)FIGURES_ACTIVITY_MS;
    figures->window_ms = window_ms;

    for (; names && *names; names++)
        (void)handler_of(figures, *names);
    if (status >= 0) status = tp_stats(conn, 0, add_stat, figures);
    if (status >= 0) status = tp_recent_each(conn, window_ms, add_recent, figures);
    if (status >= 0) status = tp_activity_each(conn, &activity, add_activity, figures);
    return status < 0 ? status : TP_OK;
}

tp_status figures_read_rest(tp_conn *conn, struct figures *figures) {
    tp_status status = tp_paused_each(conn, add_paused, figures);

    if (status >= 0) status = tp_worker_each(conn, add_worker, figures);
    if (status >= 0) status = tp_requests_waiting(conn, &figures->requests, &figures->oldest_request);
    count_maybe(figures);
    sort(figures);
    return status < 0 ? status : TP_OK;
}

tp_status figures_read(tp_conn *conn, struct figures *figures, char *const *names) {
    tp_status status = figures_read_tasks(conn, figures, names, FIGURES_WINDOW_MS);

    return status == TP_OK ? figures_read_rest(conn, figures) : status;
}

tp_status figures_count(tp_conn *conn, struct figures *figures) {
    struct counters_range range = counters_range(figures->now);
    tp_activity_request request = TP_ACTIVITY_INIT;
    tp_status status;

    figures->counted_since = request.since = range.since;
    request.until = range.until;
    request.bucket_ms = COUNTERS_PERIOD_MS;
    if (range.since == range.until) return TP_OK;
    status = tp_activity_each(conn, &request, add_counted, figures);
    sort(figures);
    return status < 0 ? status : TP_OK;
}

static void add_gate(const tp_gate *gate, void *arg) {
    struct figures *figures = arg;
    bool among_others = figures->gate_count >= FIGURES_GATES_MAX;
    size_t at = among_others ? FIGURES_GATES_MAX : figures->gate_count;
    struct gate_figures *kept;

    figures->at_gates += gate->waiting;
    if (!figures->gates) figures->gates = cli_must(calloc(FIGURES_GATES_MAX + 1, sizeof *figures->gates));
    figures->gate_count = at + 1;
    kept = &figures->gates[at];
    kept->waiting += gate->waiting;
    kept->through += gate->through;
    if (among_others) return;
    copy(kept->name, sizeof kept->name, gate->name);
    kept->width = gate->width;
    kept->tokens = gate->tokens;
    kept->tokens_left = gate->tokens_left;
}

tp_status figures_gates(tp_conn *conn, struct figures *figures) {
    tp_status status = tp_gate_each(conn, NULL, add_gate, figures);

    return status < 0 ? status : tp_groups_waiting(conn, &figures->groups, &figures->after_groups);
}

/* Those claimed first come first. A lapsed one is due: that is another alarm. */
static void take_held(const tp_running *running, void *arg) {
    struct held_figures *held = &handler_of(arg, running->handler)->held;

    if (held->since || !running->claimed_at || running->lapses_at <= running->now) return;
    held->since = running->claimed_at;
    copy(held->task, sizeof held->task, running->id);
    if (running->worker)
        snprintf(held->worker, sizeof held->worker, "%.128s on %.120s", running->worker->name,
                 running->worker->host);
    else
        copy(held->worker, sizeof held->worker, "somebody");
}

tp_status figures_held(tp_conn *conn, struct figures *figures) {
    tp_running_request request = TP_RUNNING_INIT;
    tp_status status;

    request.limit = HELD_READ_MAX;
    status = tp_running_each(conn, &request, take_held, figures);
    sort(figures);
    return status < 0 ? status : TP_OK;
}

int64_t figures_held_age(const struct figures *figures, const struct handler_figures *handler) {
    int64_t since = handler->held.since;

    return since && figures->now > since ? figures->now - since : 0;
}

void figures_free(struct figures *figures) {
    free(figures->handlers);
    free(figures->workers);
    free(figures->gates);
    *figures = (struct figures){0};
}

static void *copy_of(const void *from, size_t size) {
    return size ? memcpy(cli_must(malloc(size)), from, size) : NULL;
}

struct figures figures_copy(const struct figures *figures) {
    struct figures copied = *figures;

    copied.handlers = copy_of(figures->handlers, figures->handler_count * sizeof *figures->handlers);
    copied.workers = copy_of(figures->workers, figures->worker_count * sizeof *figures->workers);
    copied.gates = copy_of(figures->gates, figures->gate_count * sizeof *figures->gates);
    return copied;
}

struct handler_figures figures_sum(const struct figures *figures) {
    struct handler_figures sum = {0};

    for (size_t i = 0; i < figures->handler_count; i++) {
        const struct handler_figures *handler = &figures->handlers[i];

        sum.pending += handler->pending;
        sum.handling += handler->handling;
        sum.retrying += handler->retrying;
        sum.failed += handler->failed;
        sum.enqueued += handler->enqueued;
        sum.finished += handler->finished;
        sum.gave_up += handler->gave_up;
        figures_add_times(&sum.wait, &handler->wait);
        figures_add_times(&sum.run, &handler->run);
        if (handler->paused_since) {
            sum.paused_due += handler->due;
            continue;
        }
        sum.due += handler->due;
        sum.lapsed += handler->lapsed;
        if (handler->due_since && (!sum.due_since || handler->due_since < sum.due_since))
            sum.due_since = handler->due_since;
    }
    return sum;
}

int64_t figures_open(const struct handler_figures *handler) {
    return handler->pending + handler->handling + handler->retrying;
}

int64_t figures_in_progress(const struct handler_figures *handler) {
    return handler->handling - handler->lapsed;
}

int64_t figures_age(const struct figures *figures, const struct handler_figures *handler) {
    int64_t age = figures->now - handler->due_since;

    return handler->due_since && age > 0 ? age : 0;
}

int64_t figures_request_age(const struct figures *figures) {
    int64_t age = figures->now - figures->oldest_request;

    return figures->requests && age > 0 ? age : 0;
}

int64_t figures_timed(const tp_histogram *times) {
    int64_t count = 0;

    for (size_t i = 0; i < TP_HISTOGRAM_BUCKETS; i++)
        count += times->counts[i];
    return count;
}

int64_t figures_quantile(const tp_histogram *times, double part) {
#define BUCKET_END(number, ms) ms,
    static const int64_t ends[] = {TP_HISTOGRAM_LIST(BUCKET_END)};
#undef BUCKET_END
    double wanted = (double)figures_timed(times) * part;
    int64_t seen = 0;

    if (wanted <= 0) return -1;
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        seen += times->counts[i];
        if ((double)seen >= wanted) return ends[i] < times->max_ms ? ends[i] : times->max_ms;
    }
    return times->max_ms;
}
