/* snapshot [--minutes N] [--plan NAME] [--tasks N] [--only without|with]: does a steady load stay as fast
 * while another session holds an old snapshot, so that nothing can be cleared away? Puts in, claims and
 * completes tasks on one connection for so many minutes without such a session and as long with one; prints
 * the tasks a second of each tenth, and how much of the rate is left. With --only one of the two, to be run
 * beside the other on another database of the server. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/measure/counts.h"
#include "bench/measure/measure.h"
#include "support/check.h"
#include "support/pool.h"
#include "support/sql.h"

enum { GROUP = 500, TENTHS = 10 };

static const char handler[] = "steady";

static struct {
    double minutes;
    const char *plan;
    size_t waiting; /* tasks that are due all the time */
    const char *only;
} asked = {10, "skip", 5000, ""};

bool snapshot_option(const char *option, const char *value) {
    if (strcmp(option, "minutes") == 0)
        asked.minutes = strtod(value, NULL);
    else if (strcmp(option, "plan") == 0)
        asked.plan = value;
    else if (strcmp(option, "only") == 0)
        asked.only = value;
    else if (strcmp(option, "tasks") == 0)
        asked.waiting = (size_t)strtoul(value, NULL, 10);
    else
        return false;
    return true;
}

/* ---- The load ------------------------------------------------------------------------------------------ */

/* Tasks a second, and how many buffers one cost. */
static double run_for(double seconds, double *buffers) {
    double began = seconds_now();
    size_t done = 0;
    struct counts before = counts_read(pool.a, false);
    while (seconds_now() - began < seconds) {
        put_tasks(handler, GROUP);
        done += take_tasks(handler, asked.plan, GROUP);
    }
    double rate = (double)done / (seconds_now() - began);
    *buffers = (double)(counts_read(pool.a, false).buffers - before.buffers) / (double)done;
    return rate;
}

/* ---- Without and with ---------------------------------------------------------------------------------- */

static double run_tenths(const char *name, double *last) {
    double sum = 0, buffers = 0;
    printf("%s %s, tasks/s (buffers a task):", pool.entry, name);
    for (int i = 0; i < TENTHS; i++) {
        *last = run_for(asked.minutes * 60 / TENTHS, &buffers);
        sum += *last;
        printf(" %.0f (%.1f)", *last, buffers);
        fflush(stdout);
    }
    printf("\n%s %s, mean: %.0f\n", pool.entry, name, sum / TENTHS);
    return sum / TENTHS;
}

static void hold_snapshot(void) {
    if (pool_on_postgres()) sql_run(pool.b, "BEGIN ISOLATION LEVEL REPEATABLE READ");
    if (pool_on_sqlite()) sql_run(pool.b, "BEGIN");
    if (pool_on_mariadb()) sql_run(pool.b, "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ");
    if (pool_on_mariadb()) sql_run(pool.b, "START TRANSACTION WITH CONSISTENT SNAPSHOT");
    sql_number(pool.b, "SELECT COUNT(*) FROM tp_meta");
}

void snapshot_run(void **state) {
    double last = 0, last_held = 0, free = 0, held = 0;
    (void)state;
    put_tasks(handler, asked.waiting);
    if (strcmp(asked.only, "with") != 0) free = run_tenths("without", &last);
    if (strcmp(asked.only, "without") == 0) return;
    hold_snapshot();
    held = run_tenths("with an old snapshot", &last_held);
    sql_run(pool.b, "ROLLBACK");
    if (free == 0) return;
    printf("%s %s kept: %.2f in the mean, %.2f in the last tenth\n", pool.entry, asked.plan, held / free,
           last_held / free);
    assert_true(held / free >= 0.7);
}
