/* cost --measure enqueue|lease|hold|one [--tasks N] [--group N]: puts in, or claims and completes, that many
 * tasks, GROUP at a time, and prints ODBC calls, statements and round trips a task. Only work() is to be
 * measured, so callgrind is pointed at it. Before and after it the program prints a word and waits for a
 * line, so that whoever started it can read what the server has used; with nothing on its standard input it
 * goes on. Must not count what the first group prepares. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/measure/counts.h"
#include "bench/measure/measure.h"
#include "ops/for_workers.h"
#include "support/check.h"
#include "support/pool.h"

static const char handler[] = "cost";

static struct {
    const char *measure;
    size_t tasks, group;
} asked = {"enqueue", 20000, 500};

bool cost_option(const char *option, const char *value) {
    if (strcmp(option, "measure") == 0)
        asked.measure = value;
    else if (strcmp(option, "tasks") == 0)
        asked.tasks = strtoul(value, NULL, 10);
    else if (strcmp(option, "group") == 0)
        asked.group = strtoul(value, NULL, 10);
    else
        return false;
    return asked.tasks > 0 && asked.group > 0 && asked.group <= TP_CLAIM_MAX;
}

static bool in_transaction;

static bool enqueues(void) {
    return strcmp(asked.measure, "enqueue") == 0;
}

/* In one transaction, whose commit begins the next, as a worker does it. */
static size_t hold_group(size_t count) {
    static struct claimed claimed;
    static const char *const handlers[] = {handler};
    tp_claim_request request = TP_CLAIM_INIT;
    request.handlers = handlers;
    request.handler_count = 1;
    request.limit = count;
    request.plan = "hold";
    if (!in_transaction) must(tp_begin(pool.a));
    claim_tasks(&claimed, &request);
    complete_tasks(&claimed, 0);
    tp_status status = tpi_commit_begin(pool.a);
    if (status != TP_NONE) must(status);
    in_transaction = status == TP_OK;
    return claimed.count;
}

static size_t do_group(size_t count) {
    if (strcmp(asked.measure, "lease") == 0) return take_tasks(handler, NULL, count);
    if (!enqueues()) return hold_group(count);
    put_tasks(handler, count);
    return count;
}

static void __attribute__((noinline)) work(void) {
    for (size_t done = 0, left; done < asked.tasks; done += do_group(left)) {
        left = asked.tasks - done;
        if (left > asked.group) left = asked.group;
    }
}

static void say(const char *word) {
    printf("%s\n", word);
    fflush(stdout);
    for (int c = getchar(); c != EOF && c != '\n';)
        c = getchar();
}

void cost_run(void **state) {
    (void)state;
    if (!enqueues()) put_tasks(handler, asked.tasks + asked.group);
    counts_settle(true);
    (void)do_group(asked.group);
    tp_counters before = *tp_conn_counters(pool.a);
    say("ready");
    work();
    const tp_counters after = *tp_conn_counters(pool.a);
    say("done");
    if (in_transaction) must(tp_rollback(pool.a));
    double count = (double)asked.tasks;
    printf("{\"odbc_calls\": %.4f, \"statements\": %.4f, \"round_trips\": %.4f}\n",
           (double)(after.odbc_calls - before.odbc_calls) / count,
           (double)(after.statements - before.statements) / count,
           (double)(after.round_trips - before.round_trips) / count);
}
