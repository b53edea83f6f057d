/* gates [--tasks N] [--rounds N]: what a task costs that has an order key, is behind a gate or in a group,
 * beside one that has none of it, in turn on one session: put in 500 at a time, then claimed by a lease and
 * completed 100 at a time. Nobody waits: each key is of one task, and the gate is wide. A line of JSON for
 * each kind and round. Read next: gates.py. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/measure/measure.h"
#include "support/check.h"
#include "support/pool.h"

enum { PUT = 500, TAKE = 100 };

static const char handler[] = "gates";
static const char *const kinds[] = {"none", "order_key", "gate", "group"};
static size_t tasks_wanted = 2000, rounds = 3;

bool gates_option(const char *option, const char *value) {
    if (strcmp(option, "tasks") == 0)
        tasks_wanted = strtoul(value, NULL, 10);
    else if (strcmp(option, "rounds") == 0)
        rounds = strtoul(value, NULL, 10);
    else
        return false;
    return tasks_wanted > 0 && rounds > 0;
}

static void put_some(const char *kind, const char *group, size_t from, size_t count) {
    static tp_new_task tasks[PUT];
    static char keys[PUT][32];
    for (size_t i = 0; i < count; i++) {
        tasks[i] = (tp_new_task){.size = sizeof tasks[i], .handler = handler, .params = "{\"order\":4711}"};
        snprintf(keys[i], sizeof keys[i], "key-%zu", from + i);
        if (strcmp(kind, "order_key") == 0) tasks[i].order_key = keys[i];
        if (strcmp(kind, "gate") == 0) tasks[i].gate = "wide";
        if (strcmp(kind, "group") == 0) tasks[i].group = group;
    }
    must(tp_enqueue_many(pool.a, tasks, count, NULL));
}

static void print_part(const char *kind, const char *part, const tp_counters *before, double began) {
    const tp_counters *now = tp_conn_counters(pool.a);
    double count = (double)tasks_wanted;
    printf("{\"kind\": \"%s\", \"part\": \"%s\", \"us\": %.2f, \"statements\": %.4f, \"round_trips\": %.4f, "
           "\"odbc_calls\": %.4f}\n",
           kind, part, 1e6 * (seconds_now() - began) / count,
           (double)(now->statements - before->statements) / count,
           (double)(now->round_trips - before->round_trips) / count,
           (double)(now->odbc_calls - before->odbc_calls) / count);
}

static void measure_kind(const char *kind, size_t round) {
    char group[32];
    snprintf(group, sizeof group, "group-%zu", round);
    if (strcmp(kind, "group") == 0) must(tp_group_open(pool.a, group, TP_GROUP_ALL_DONE, NULL));
    tp_counters before = *tp_conn_counters(pool.a);
    double began = seconds_now();
    for (size_t done = 0, some; done < tasks_wanted; done += some) {
        some = tasks_wanted - done < PUT ? tasks_wanted - done : PUT;
        put_some(kind, group, done, some);
    }
    print_part(kind, "enqueue", &before, began);
    before = *tp_conn_counters(pool.a);
    began = seconds_now();
    for (size_t done = 0; done < tasks_wanted;)
        done += take_tasks(handler, NULL, TAKE);
    print_part(kind, "run", &before, began);
}

/* The first round only prepares what each kind needs. */
void gates_run(void **state) {
    tp_gate_options wide = TP_GATE_INIT;
    (void)state;
    wide.width = 1000000;
    must(tp_gate_set_with(pool.a, "wide", &wide, NULL));
    for (size_t round = 0; round <= rounds; round++)
        for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
            measure_kind(kinds[i], round);
}
