/* See report.h. docs/cli.md has the keys of the JSON document; they stay as they are. */
#include "report.h"

#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench_options.h"
#include "common/args.h"
#include "common/json.h"
#include "common/progress.h"
#include "common/table.h"
#include "results.h"

#define FORMAT 1

static const struct {
    const char *name;
    int decimals;
} figures[BENCH_FIGURES] = {
#define FIGURE_ROW(id, name, decimals) {name, decimals},
    BENCH_FIGURE_LIST(FIGURE_ROW)
#undef FIGURE_ROW
};

static bool is_latency(enum bench_measure measure) {
    return measure == BENCH_LATENCY || measure == BENCH_LATENCY_SAME;
}

/* ---- Medians ----------------------------------------------------------------------------------------- */

static bool is_same(const struct bench_result *a, const struct bench_result *b) {
    return a->measure == b->measure && (a->plan == b->plan || (a->plan && strcmp(a->plan, b->plan) == 0));
}

static double median_of(const struct bench *bench, const struct bench_result *like,
                        enum bench_figure figure) {
    double *values = cli_must(calloc(bench->count, sizeof *values));
    size_t count = 0;
    double middle;

    for (size_t i = 0; i < bench->count; i++)
        if (is_same(&bench->results[i], like)) values[count++] = bench->results[i].figure[figure];
    bench_sort(values, count);
    middle = (values[(count - 1) / 2] + values[count / 2]) / 2;
    free(values);
    return middle;
}

static struct bench_result median(const struct bench *bench, const struct bench_result *first) {
    struct bench_result result = *first;

    result.round = 0;
    for (int i = 0; i < BENCH_FIGURES; i++)
        if (result.has[i]) result.figure[i] = median_of(bench, first, (enum bench_figure)i);
    return result;
}

/* ---- JSON -------------------------------------------------------------------------------------------- */

static void put_double(json_object *object, const char *name, double value, int decimals) {
    char text[64];

    snprintf(text, sizeof text, "%.*f", decimals, value);
    json_object_object_add(object, name, cli_must(json_object_new_double_s(value, text)));
}

static json_object *result_object(const struct bench_result *result) {
    json_object *object = cli_must(json_object_new_object());

    json_put_text(object, "name", bench_measure_name(result->measure));
    if (result->round) json_put_number(object, "round", result->round);
    json_put_text(object, "plan", result->plan);
    if (result->tasks)
        json_put_number(object, is_latency(result->measure) ? "samples" : "tasks", result->tasks);
    for (int i = 0; i < BENCH_FIGURES; i++)
        if (result->has[i]) put_double(object, figures[i].name, result->figure[i], figures[i].decimals);
    return object;
}

static json_object *names_of_measures(const struct bench_settings *set) {
    json_object *list = cli_must(json_object_new_array());

    for (int i = 0; i < BENCH_MEASURES; i++)
        if (set->wanted[i])
            json_object_array_add(
                list, cli_must(json_object_new_string(bench_measure_name((enum bench_measure)i))));
    return list;
}

static json_object *names_of_plans(const struct bench_settings *set) {
    json_object *list = cli_must(json_object_new_array());

    for (size_t i = 0; i < set->plan_count; i++)
        json_object_array_add(list, cli_must(json_object_new_string(set->plans[i])));
    return list;
}

static json_object *settings_object(const struct bench_settings *set) {
    json_object *object = cli_must(json_object_new_object());

    json_object_object_add(object, "measures", names_of_measures(set));
    json_object_object_add(object, "plans", names_of_plans(set));
    json_put_number(object, "rounds", set->rounds);
    json_put_number(object, "tasks", set->tasks);
    json_put_number(object, "singles", set->singles);
    json_put_number(object, "samples", set->samples);
    json_put_number(object, "put", set->put);
    json_put_number(object, "batch", set->batch);
    json_put_number(object, "group", set->group);
    json_put_number(object, "threads", set->threads);
    json_put_number(object, "processes", set->processes);
    json_put_number(object, "payload_bytes", set->payload);
    json_object_object_add(object, "transactions", cli_must(json_object_new_boolean(set->transactions)));
    /* Of these 0 is the worker's own. */
    json_put_time(object, "queue", set->queue);
    json_put_time(object, "hot_ms", set->hot_ms);
    json_put_time(object, "poll_ms", set->poll_ms);
    json_put_time(object, "idle_ms", set->idle_ms);
    json_put_number(object, "pause_ms", set->pause_ms);
    json_put_number(object, "idle_time_ms", set->idle_time_ms);
    return object;
}

static void put_place(json_object *object, const struct bench *bench) {
    const tp_conn_info *about = tp_conn_about(bench->conn);

    json_put_number(object, "format", FORMAT);
    json_put_text(object, "taskpool_version", tp_version());
    json_put_number(object, "started_at_ms", bench->started_at);
    json_put_text(object, "database", about->dbms_name);
    json_put_text(object, "database_version", about->dbms_version);
    json_put_text(object, "driver", about->driver_name);
    json_put_text(object, "driver_version", about->driver_version);
    json_put_text(object, "driver_profile", about->profile);
    json_put_text(object, "dialect", about->dialect);
    json_put_number(object, "cpus", sysconf(_SC_NPROCESSORS_ONLN));
}

static void report_json(const struct bench *bench) {
    json_object *object = cli_must(json_object_new_object());
    json_object *results = cli_must(json_object_new_array());
    json_object *medians = cli_must(json_object_new_array());

    put_place(object, bench);
    json_object_object_add(object, "settings", settings_object(bench->set));
    json_put_text(object, "handler", bench->handler);
    for (size_t i = 0; i < bench->count; i++) {
        json_object_array_add(results, result_object(&bench->results[i]));
        if (bench->results[i].round != 1) continue;
        struct bench_result middle = median(bench, &bench->results[i]);
        json_object_array_add(medians, result_object(&middle));
    }
    json_object_object_add(object, "results", results);
    json_object_object_add(object, "medians", medians);
    json_put_number(object, "removed_tasks", bench->removed);
    out_json(object);
}

/* ---- Tables ------------------------------------------------------------------------------------------ */

#define COLUMNS_MAX 10

/* Which figures stand in which table, behind measure, plan and number. */
struct layout {
    const char *title;
    const char *heads[COLUMNS_MAX];
    enum bench_figure columns[COLUMNS_MAX];
    size_t fixed, count; /* columns before the figures, and figures */
};

static const struct layout layouts[] = {
    {NULL,
     {"MEASURE", "PLAN", ">TASKS", ">TASKS/S", ">STATEMENTS/TASK", ">ROUND TRIPS/TASK", ">COMMITS/TASK",
      ">CPU US/TASK"},
     {FIGURE_RATE, FIGURE_STATEMENTS, FIGURE_TRIPS, FIGURE_COMMITS, FIGURE_CPU},
     3,
     5},
    {"From before the enqueue to the handler's begin, in milliseconds; "
     "the enqueue alone; and from its return on:",
     {"MEASURE", "PLAN", ">SAMPLES", ">P50", ">P95", ">P99", ">MAX", ">ENQUEUE P50", ">AFTER P50",
      ">AFTER P99"},
     {FIGURE_P50, FIGURE_P95, FIGURE_P99, FIGURE_MAX, FIGURE_ENQUEUE_P50, FIGURE_AFTER_P50, FIGURE_AFTER_P99},
     3,
     7},
    {"A worker without tasks, per second:",
     {"MEASURE", "PLAN", ">STATEMENTS", ">ROUND TRIPS", ">CPU US"},
     {FIGURE_IDLE_STATEMENTS, FIGURE_IDLE_TRIPS, FIGURE_IDLE_CPU},
     2,
     3},
};

static void add_row(const struct layout *layout, const struct bench_result *result, struct table *rows) {
    table_add(rows, bench_measure_name(result->measure));
    table_add(rows, result->plan);
    if (layout->fixed == 3) table_add_number(rows, result->tasks);
    for (size_t i = 0; i < layout->count; i++) {
        enum bench_figure figure = layout->columns[i];
        char text[64];

        snprintf(text, sizeof text, "%.*f", figure == FIGURE_RATE ? 0 : figures[figure].decimals,
                 result->figure[figure]);
        table_add(rows, text);
    }
}

static void print_table(const struct bench *bench, const struct layout *layout, bool *printed) {
    struct table *rows = table_open(layout->heads, layout->fixed + layout->count);
    size_t count = 0;

    for (size_t i = 0; i < bench->count; i++) {
        if (bench->results[i].round != 1 || !bench->results[i].has[layout->columns[0]]) continue;
        struct bench_result middle = median(bench, &bench->results[i]);
        add_row(layout, &middle, rows);
        count++;
    }
    if (count == 0) {
        table_free(rows);
        return;
    }
    if (*printed) out_text("\n");
    if (layout->title) out_text("%s\n", layout->title);
    table_print(rows);
    *printed = true;
}

static void report_tables(const struct bench *bench) {
    const struct bench_settings *set = bench->set;
    const tp_conn_info *about = tp_conn_about(bench->conn);
    bool printed = false;

    if (!common.quiet) {
        out_text("%s %s over %s %s, dialect %s; taskpool %s; %ld CPUs\n", about->dbms_name,
                 about->dbms_version, about->driver_name, about->driver_version, about->dialect, tp_version(),
                 sysconf(_SC_NPROCESSORS_ONLN));
        out_text("batch %lld, group %lld, threads %lld, processes %lld, payload %lld bytes; medians of %lld "
                 "rounds\n\n",
                 (long long)set->batch, (long long)set->group, (long long)set->threads,
                 (long long)set->processes, (long long)set->payload, (long long)set->rounds);
    }
    for (size_t i = 0; i < sizeof layouts / sizeof layouts[0]; i++)
        print_table(bench, &layouts[i], &printed);
}

void bench_report(const struct bench *bench) {
    if (common.json)
        report_json(bench);
    else
        report_tables(bench);
}

void bench_report_clean(const struct bench *bench) {
    if (common.json) {
        json_object *object = cli_must(json_object_new_object());

        json_put_number(object, "removed_tasks", bench->removed);
        out_json(object);
    } else if (!common.quiet) {
        out_text("took out %lld\n", (long long)bench->removed);
    }
}

/* ---- Progress ---------------------------------------------------------------------------------------- */

void bench_progress(const struct bench *bench, enum bench_measure measure, const char *plan) {
    char text[128];

    snprintf(text, sizeof text, "round %d of %lld: %s%s%s", bench->round, (long long)bench->set->rounds,
             bench_measure_name(measure), plan ? " " : "", plan ? plan : "");
    if (!common.quiet) progress_draw(text);
}
