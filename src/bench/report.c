/* See report.h. docs/cli.md has the keys of the JSON document; they stay as they are. */
#include "report.h"

#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/args.h"
#include "common/json.h"
#include "common/listing.h"
#include "common/progress.h"
#include "results.h"

#define FORMAT 1

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

static const char *name_of(const void *record, char text[RECORD_TEXT_SIZE]) {
    const struct bench_result *result = record;

    (void)text;
    return bench_measure_name(result->measure);
}

#define RESULT(type, member) COLUMN_OF(type, struct bench_result, member)
#define MEASURE                                                                                              \
    { "MEASURE", "name", .shown = name_of }
#define PLAN                                                                                                 \
    { "PLAN", "plan", RESULT(TEXT, plan) }

/* The round, the tasks or samples and each figure only where the result has them. */
static json_object *result_object(const struct bench_result *result) {
    const struct column all[] = {
        MEASURE,
        {NULL, "round", RESULT(NUMBER, round)},
        PLAN,
        {NULL, is_latency(result->measure) ? "samples" : "tasks", RESULT(NUMBER, tasks)},
#define FIGURE_COLUMN(id, name, digits) {NULL, name, RESULT(REAL, figure[id]), .decimals = digits},
        BENCH_FIGURE_LIST(FIGURE_COLUMN)
#undef FIGURE_COLUMN
    };
    enum { ALL = sizeof all / sizeof all[0], FIXED = ALL - BENCH_FIGURES };
    const bool fixed[FIXED] = {true, result->round, true, result->tasks};
    struct column columns[ALL + 1] = {COLUMNS_END};
    size_t count = 0;

    for (size_t i = 0; i < ALL; i++)
        if (i < FIXED ? fixed[i] : result->has[i - FIXED]) columns[count++] = all[i];
    return record_object(columns, result);
}

static void add_name(json_object *list, const char *name) {
    json_object_array_add(list, cli_must(json_object_new_string(name)));
}

#define SETTING(type, member) COLUMN_OF(type, struct bench_settings, member)
static const struct column setting_columns[] = {
    {NULL, "rounds", SETTING(NUMBER, rounds)},
    {NULL, "tasks", SETTING(NUMBER, tasks)},
    {NULL, "singles", SETTING(NUMBER, singles)},
    {NULL, "samples", SETTING(NUMBER, samples)},
    {NULL, "put", SETTING(NUMBER, put)},
    {NULL, "batch", SETTING(NUMBER, batch)},
    {NULL, "group", SETTING(NUMBER, group)},
    {NULL, "threads", SETTING(NUMBER, threads)},
    {NULL, "processes", SETTING(NUMBER, processes)},
    {NULL, "payload_bytes", SETTING(NUMBER, payload)},
    {NULL, "transactions", SETTING(YES_NO, transactions)},
    /* Of these 0 is the worker's own. */
    {NULL, "queue", SETTING(NUMBER, queue), .may_miss = true},
    {NULL, "hot_ms", SETTING(NUMBER, hot_ms), .may_miss = true},
    {NULL, "poll_ms", SETTING(NUMBER, poll_ms), .may_miss = true},
    {NULL, "idle_ms", SETTING(NUMBER, idle_ms), .may_miss = true},
    {NULL, "pause_ms", SETTING(NUMBER, pause_ms)},
    {NULL, "idle_time_ms", SETTING(NUMBER, idle_time_ms)},
    COLUMNS_END,
};

static json_object *settings_object(const struct bench_settings *set) {
    json_object *object = json_new();
    json_object *measures = cli_must(json_object_new_array());
    json_object *plans = cli_must(json_object_new_array());

    for (int i = 0; i < BENCH_MEASURES; i++)
        if (set->wanted[i]) add_name(measures, bench_measure_name((enum bench_measure)i));
    for (size_t i = 0; i < set->plan_count; i++)
        add_name(plans, set->plans[i]);
    json_add(object, MEMBERS(MEMBER_JSON("measures", measures), MEMBER_JSON("plans", plans)));
    record_add(object, setting_columns, set);
    return object;
}

#define DATABASE(type, member) COLUMN_OF(type, tp_conn_info, member)
static const struct column database_columns[] = {
    {NULL, "database", DATABASE(TEXT, dbms_name)},
    {NULL, "database_version", DATABASE(TEXT, dbms_version)},
    {NULL, "driver", DATABASE(TEXT, driver_name)},
    {NULL, "driver_version", DATABASE(TEXT, driver_version)},
    {NULL, "driver_profile", DATABASE(TEXT, profile)},
    {NULL, "dialect", DATABASE(TEXT, dialect)},
    COLUMNS_END,
};

static void report_json(const struct bench *bench) {
    json_object *object = json_new();
    json_object *results = cli_must(json_object_new_array());
    json_object *medians = cli_must(json_object_new_array());

    for (size_t i = 0; i < bench->count; i++) {
        json_object_array_add(results, result_object(&bench->results[i]));
        if (bench->results[i].round != 1) continue;
        struct bench_result middle = median(bench, &bench->results[i]);
        json_object_array_add(medians, result_object(&middle));
    }
    json_add(object, MEMBERS(MEMBER_NUMBER("format", FORMAT), MEMBER_TEXT("taskpool_version", tp_version()),
                             MEMBER_NUMBER("started_at_ms", bench->started_at)));
    record_add(object, database_columns, tp_conn_about(bench->conn));
    json_add(object,
             MEMBERS(MEMBER_NUMBER("cpus", sysconf(_SC_NPROCESSORS_ONLN)),
                     MEMBER_JSON("settings", settings_object(bench->set)),
                     MEMBER_TEXT("handler", bench->handler), MEMBER_JSON("results", results),
                     MEMBER_JSON("medians", medians), MEMBER_NUMBER("removed_tasks", bench->removed)));
    out_json(object);
}

/* ---- Tables ------------------------------------------------------------------------------------------ */

/* Medians of the results that have a figure. */
struct layout {
    const char *title;
    enum bench_figure figure;
    const struct column *columns;
};

enum {
#define DECIMALS_ENUM(id, name, decimals) id##_DECIMALS = (decimals),
    BENCH_FIGURE_LIST(DECIMALS_ENUM)
#undef DECIMALS_ENUM
};
#define FIGURE(head, id)                                                                                     \
    { head, NULL, RESULT(REAL, figure[id]), .decimals = id##_DECIMALS }

static const struct layout layouts[] = {
    {NULL, FIGURE_RATE,
     (const struct column[]){MEASURE,
                             PLAN,
                             {"TASKS", NULL, RESULT(NUMBER, tasks)},
                             {"TASKS/S", NULL, RESULT(REAL, figure[FIGURE_RATE]), .decimals = 0},
                             FIGURE("STATEMENTS/TASK", FIGURE_STATEMENTS),
                             FIGURE("ROUND TRIPS/TASK", FIGURE_TRIPS),
                             FIGURE("COMMITS/TASK", FIGURE_COMMITS),
                             FIGURE("CPU US/TASK", FIGURE_CPU),
                             COLUMNS_END}},
    {"From before the enqueue to the handler's begin, in milliseconds; "
     "the enqueue alone; and from its return on:",
     FIGURE_P50,
     (const struct column[]){MEASURE,
                             PLAN,
                             {"SAMPLES", NULL, RESULT(NUMBER, tasks)},
                             FIGURE("P50", FIGURE_P50),
                             FIGURE("P95", FIGURE_P95),
                             FIGURE("P99", FIGURE_P99),
                             FIGURE("MAX", FIGURE_MAX),
                             FIGURE("ENQUEUE P50", FIGURE_ENQUEUE_P50),
                             FIGURE("AFTER P50", FIGURE_AFTER_P50),
                             FIGURE("AFTER P99", FIGURE_AFTER_P99),
                             COLUMNS_END}},
    {"A worker without tasks, per second:", FIGURE_IDLE_STATEMENTS,
     (const struct column[]){MEASURE, PLAN, FIGURE("STATEMENTS", FIGURE_IDLE_STATEMENTS),
                             FIGURE("ROUND TRIPS", FIGURE_IDLE_TRIPS), FIGURE("CPU US", FIGURE_IDLE_CPU),
                             COLUMNS_END}},
};

static void print_table(const struct bench *bench, const struct layout *layout, bool *printed) {
    struct listing *rows = listing_open(layout->columns);
    bool any = false;

    for (size_t i = 0; i < bench->count; i++) {
        if (bench->results[i].round != 1 || !bench->results[i].has[layout->figure]) continue;
        struct bench_result middle = median(bench, &bench->results[i]);
        listing_add(rows, &middle);
        any = true;
    }
    if (any && *printed) out_text("\n");
    if (any && layout->title) out_text("%s\n", layout->title);
    if (any) listing_print(rows);
    *printed = *printed || any;
    listing_free(rows);
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
        out_members(MEMBERS(MEMBER_NUMBER("removed_tasks", bench->removed)));
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
