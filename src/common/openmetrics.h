/* Writes OpenMetrics text, as Prometheus reads it: https://prometheus.io/docs/specs/om/open_metrics_spec/. Of
 * its types only those that the older text format has, too, because the node exporter's textfile collector
 * reads that one; families of counters have another name there. Must not know what is measured; read next:
 * pool_metrics.h. */
#ifndef COMMON_OPENMETRICS_H
#define COMMON_OPENMETRICS_H

#include <stdint.h>
#include <stdio.h>

#include "taskpool.h"

struct metric_label {
    const char *name, *value; /* value NULL: left out */
};
/* What metric_put and metric_put_seconds take: {"handler", name}, {"state", state}. */
#define LABELS(...) ((const struct metric_label[]){__VA_ARGS__, {NULL, NULL}})

/* Begins a family: all of its samples follow. type: gauge, counter, histogram. unit: "" or the end of name.
 * Names of counters' samples, not of their families, end in _total. */
void metric_family(FILE *to, const char *name, const char *type, const char *unit, const char *help);
void metric_put(FILE *to, const char *name, const struct metric_label *labels, int64_t value);
/* Milliseconds, as seconds. */
void metric_put_seconds(FILE *to, const char *name, const struct metric_label *labels, int64_t ms);
/* The samples of a handler, in seconds. */
void metric_put_histogram(FILE *to, const char *name, const char *pool, const char *handler,
                          const tp_histogram *times);
void metric_end(FILE *to);

#endif
