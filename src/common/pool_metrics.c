/* See pool_metrics.h. */
#include "pool_metrics.h"

#include <stddef.h>
#include <string.h>

#include "openmetrics.h"

/* A gauge with a sample for each handler, or each gate. */
struct gauge {
    const char *name, *help;
    size_t offset; /* of an int64_t */
};

#define GAUGE(member) offsetof(struct handler_figures, member)
static const struct gauge gauges[] = {
    {"taskpool_due_tasks", "Tasks that are due; of a paused handler nobody claims them.", GAUGE(due)},
    {"taskpool_failed_tasks", "Tasks in the failed pool.", GAUGE(failed)},
    {"taskpool_lapsed_tasks", "Tasks in hand whose lease lapsed; they are due, too.", GAUGE(lapsed)},
    {"taskpool_enqueued_tasks", "Tasks that were put in during the last minute, by the time in their ids.",
     GAUGE(enqueued)},
    {"taskpool_finished_tasks", "Tasks that were done or skipped during the last minute.", GAUGE(finished)},
    {"taskpool_gave_up_tasks", "Tasks that went to the failed pool during the last minute.", GAUGE(gave_up)},
};

static int64_t value_at(const void *figures, size_t offset) {
    int64_t value;

    memcpy(&value, (const char *)figures + offset, sizeof value);
    return value;
}

/* Goes through the handlers of all pools; begins with {pools}. */
struct at {
    const struct pool_metrics *pool;
    const struct handler_figures *handler;
    size_t next;
};

static bool next(struct at *at) {
    for (; at->pool->figures; at->pool++, at->next = 0) {
        if (at->next == at->pool->figures->handler_count) continue;
        at->handler = &at->pool->figures->handlers[at->next++];
        return true;
    }
    return false;
}

#define OF(at)                                                                                               \
    {"pool", (at).pool->name}, {                                                                             \
        "handler", (at).handler->name                                                                        \
    }

static void put_gauge(FILE *to, const struct pool_metrics *pools, const struct gauge *gauge) {
    metric_family(to, gauge->name, "gauge", "", gauge->help);
    for (struct at at = {.pool = pools}; next(&at);)
        metric_put(to, gauge->name, LABELS(OF(at)), value_at(at.handler, gauge->offset));
}

static void put_open(FILE *to, const struct pool_metrics *pools) {
    static const char name[] = "taskpool_open_tasks";

    metric_family(to, name, "gauge", "",
                  "Tasks in the pending pool; retrying: failed, and to be tried again.");
    for (struct at at = {.pool = pools}; next(&at);) {
        metric_put(to, name, LABELS(OF(at), {"state", "pending"}), at.handler->pending);
        metric_put(to, name, LABELS(OF(at), {"state", "handling"}), at.handler->handling);
        metric_put(to, name, LABELS(OF(at), {"state", "retrying"}), at.handler->retrying);
    }
}

static void put_oldest(FILE *to, const struct pool_metrics *pools) {
    static const char name[] = "taskpool_oldest_due_seconds";

    metric_family(to, name, "gauge", "seconds",
                  "How long the first of the due tasks has been due; 0: none is.");
    for (struct at at = {.pool = pools}; next(&at);)
        metric_put_seconds(to, name, LABELS(OF(at)), figures_age(at.pool->figures, at.handler));
}

static void put_held(FILE *to, const struct pool_metrics *pools) {
    static const char name[] = "taskpool_longest_held_seconds";

    metric_family(
        to, name, "gauge", "seconds",
        "For how long the task has been claimed that a worker holds longest; 0: none is held, or by "
        "plan hold.");
    for (struct at at = {.pool = pools}; next(&at);)
        metric_put_seconds(to, name, LABELS(OF(at)), figures_held_age(at.pool->figures, at.handler));
}

static void put_outcomes(FILE *to, const struct pool_metrics *pools, bool older) {
    metric_family(to, older ? "taskpool_handled_total" : "taskpool_handled", "counter", "",
                  "What came of the tasks that workers handled; failed: to be tried again.");
    for (struct at at = {.pool = pools}; next(&at);) {
        const tp_activity *counted = &at.handler->counted;
        const struct {
            const char *outcome;
            int64_t count;
        } outcomes[] = {{"done", counted->done},       {"failed", counted->failed},
                        {"gave_up", counted->gave_up}, {"skipped", counted->skipped},
                        {"lost", counted->lost},       {"released", counted->released}};

        for (size_t i = 0; i < sizeof outcomes / sizeof outcomes[0]; i++)
            metric_put(to, "taskpool_handled_total", LABELS(OF(at), {"outcome", outcomes[i].outcome}),
                       outcomes[i].count);
    }
}

/* See counters.h. */
static void put_counted(FILE *to, const struct pool_metrics *pools, bool older) {
    metric_family(to, "taskpool_counted_since_seconds", "gauge", "seconds",
                  "From when on the counters count: they begin anew every six hours.");
    for (const struct pool_metrics *pool = pools; pool->figures; pool++)
        metric_put_seconds(to, "taskpool_counted_since_seconds", LABELS({"pool", pool->name}),
                           pool->figures->counted_since);
    put_outcomes(to, pools, older);
    metric_family(to, "taskpool_wait_seconds", "histogram", "seconds",
                  "How long tasks were due when their handler began.");
    for (struct at at = {.pool = pools}; next(&at);)
        metric_put_histogram(to, "taskpool_wait_seconds", at.pool->name, at.handler->name,
                             &at.handler->counted.wait);
    metric_family(to, "taskpool_run_seconds", "histogram", "seconds", "How long handlers ran.");
    for (struct at at = {.pool = pools}; next(&at);)
        metric_put_histogram(to, "taskpool_run_seconds", at.pool->name, at.handler->name,
                             &at.handler->counted.run);
}

static void put_paused(FILE *to, const struct pool_metrics *pools) {
    metric_family(to, "taskpool_paused", "gauge", "", "1: the handler's tasks are not claimed.");
    for (struct at at = {.pool = pools}; next(&at);)
        metric_put(to, "taskpool_paused", LABELS(OF(at)), at.handler->paused_since != 0);
}

static void put_handler_workers(FILE *to, const struct pool_metrics *pools) {
    static const char name[] = "taskpool_handler_workers";

    metric_family(to, name, "gauge", "", "Workers that live and take tasks of the handler.");
    for (struct at at = {.pool = pools}; next(&at);)
        metric_put(to, name, LABELS(OF(at)),
                   at.handler->workers ? at.handler->workers : at.handler->maybe_workers);
}

static void put_state(FILE *to, const struct pool_metrics *pool, const char *state) {
    int64_t count = 0;

    for (size_t i = 0; i < pool->figures->worker_count; i++)
        count += strcmp(pool->figures->workers[i].state, state) == 0;
    metric_put(to, "taskpool_workers", LABELS({"pool", pool->name}, {"state", state}), count);
}

static void put_workers(FILE *to, const struct pool_metrics *pools) {
    metric_family(to, "taskpool_workers", "gauge", "", "Workers; silent: not heard of for a minute.");
    for (; pools->figures; pools++) {
        put_state(to, pools, "running");
        put_state(to, pools, "stopping");
        put_state(to, pools, "silent");
    }
}

static void put_requests(FILE *to, const struct pool_metrics *pools) {
    metric_family(to, "taskpool_waiting_requests", "gauge", "", "Requests that wait for a second person.");
    for (const struct pool_metrics *pool = pools; pool->figures; pool++)
        metric_put(to, "taskpool_waiting_requests", LABELS({"pool", pool->name}), pool->figures->requests);
    metric_family(to, "taskpool_oldest_request_seconds", "gauge", "seconds",
                  "How long the first of those has waited; 0: none does.");
    for (; pools->figures; pools++)
        metric_put_seconds(to, "taskpool_oldest_request_seconds", LABELS({"pool", pools->name}),
                           figures_request_age(pools->figures));
}

/* ---- Gates and groups ---------------------------------------------------------------------------------- */

/* Others than the first are not told apart, so that their labels do not grow with the gates. */
static const char *gate_name(const struct pool_metrics *pool, size_t at) {
    return at < FIGURES_GATES_MAX ? pool->figures->gates[at].name : "(others)";
}

static void put_gates(FILE *to, const struct pool_metrics *pools) {
    static const struct {
        struct gauge gauge;
        bool named, limited; /* only of gates that are told apart; only of those with tokens */
    } gates[] = {
        {.gauge =
             {"taskpool_gate_waiting_tasks",
              "Tasks that wait at a gate; of a pattern (= is that of the order keys) at all that it made.",
              offsetof(struct gate_figures, waiting)}},
        {.gauge = {"taskpool_gate_open_tasks", "Tasks that a gate has let through and that have not ended.",
                   offsetof(struct gate_figures, through)}},
        /* What a pattern has of these is that of each of its gates. */
        {.gauge = {"taskpool_gate_width", "How many tasks a gate lets through at a time.",
                   offsetof(struct gate_figures, width)},
         .named = true},
        {.gauge = {"taskpool_gate_tokens_left",
                   "Of a gate with tokens, how many tasks it may still let through in this period.",
                   offsetof(struct gate_figures, tokens_left)},
         .named = true,
         .limited = true},
    };

    for (size_t i = 0; i < sizeof gates / sizeof gates[0]; i++) {
        metric_family(to, gates[i].gauge.name, "gauge", "", gates[i].gauge.help);
        for (const struct pool_metrics *pool = pools; pool->figures; pool++)
            for (size_t k = 0; k < pool->figures->gate_count; k++) {
                const struct gate_figures *gate = &pool->figures->gates[k];

                if ((gates[i].named && k >= FIGURES_GATES_MAX) || (gates[i].limited && !gate->tokens))
                    continue;
                metric_put(to, gates[i].gauge.name,
                           LABELS({"pool", pool->name}, {"gate", gate_name(pool, k)}),
                           value_at(gate, gates[i].gauge.offset));
            }
    }
}

static void put_groups(FILE *to, const struct pool_metrics *pools) {
    metric_family(to, "taskpool_open_groups", "gauge", "", "Groups of tasks that have not ended.");
    for (const struct pool_metrics *pool = pools; pool->figures; pool++)
        metric_put(to, "taskpool_open_groups", LABELS({"pool", pool->name}), pool->figures->groups);
    metric_family(to, "taskpool_group_waiting_tasks", "gauge", "", "Tasks that wait for the end of a group.");
    for (; pools->figures; pools++)
        metric_put(to, "taskpool_group_waiting_tasks", LABELS({"pool", pools->name}),
                   pools->figures->after_groups);
}

static void put_clocks(FILE *to, const struct pool_metrics *pools) {
    metric_family(to, "taskpool_clock_seconds", "gauge", "seconds",
                  "The database's clock when this was read: by it a file that is no longer written is seen.");
    for (; pools->figures; pools++)
        metric_put_seconds(to, "taskpool_clock_seconds", LABELS({"pool", pools->name}), pools->figures->now);
}

void pool_metrics_put(FILE *to, const struct pool_metrics *pools, bool older) {
    put_clocks(to, pools);
    put_open(to, pools);
    for (size_t i = 0; i < sizeof gauges / sizeof gauges[0]; i++)
        put_gauge(to, pools, &gauges[i]);
    put_oldest(to, pools);
    put_held(to, pools);
    put_counted(to, pools, older);
    put_paused(to, pools);
    put_handler_workers(to, pools);
    put_workers(to, pools);
    put_requests(to, pools);
    put_gates(to, pools);
    put_groups(to, pools);
    metric_end(to);
}
