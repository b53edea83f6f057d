/* The figures of pools as OpenMetrics text. Read next: openmetrics.h, figures.h. */
#ifndef COMMON_POOL_METRICS_H
#define COMMON_POOL_METRICS_H

#include <stdio.h>

#include "figures.h"

struct pool_metrics {
    const char *name;              /* the label pool; NULL: there is none */
    const struct figures *figures; /* NULL: the list ends */
};
/* older: for what reads the older text format, where a family of counters has its samples' name. */
void pool_metrics_put(FILE *to, const struct pool_metrics *pools, bool older);

#endif
