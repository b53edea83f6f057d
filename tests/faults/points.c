/* Chooses the fault points of an operation, runs and counts them. See points.h. */
#include "faults/points.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "faults/inject.h"

struct points_options points_options;

/* ---- The table ----------------------------------------------------------------------------------------- */

enum { NAME_WIDTH = 46 };

const char *const way_names[WAYS] = {
#define WAY_NAME(id, name) name,
    WAY_LIST(WAY_NAME)
#undef WAY_NAME
};

struct line {
    char name[64];
    int points[WAYS];
};
static struct line *lines; /* line_count of them */
static size_t line_count;

/* The counts by way of an operation and plan (may be NULL), zero at first; until the next call. */
static int *table_line(const char *operation, const char *plan) {
    char name[sizeof lines[0].name];
    size_t i = 0;
    snprintf(name, sizeof name, "%s%s%s", operation, plan ? ", " : "", plan ? plan : "");
    while (i < line_count && strcmp(lines[i].name, name) != 0)
        i++;
    if (i < line_count) return lines[i].points;
    lines = realloc(lines, ++line_count * sizeof *lines);
    if (!lines) abort();
    lines[i] = (struct line){0};
    memcpy(lines[i].name, name, sizeof name);
    return lines[i].points;
}

static void print_line(const char *name, const int *numbers) {
    int total = 0;
    printf("%-*s", NAME_WIDTH, name);
    for (int way = 0; way < WAYS; way++) {
        if (!points_options.ways[way]) continue;
        printf(" %*d", (int)strlen(way_names[way]), numbers[way]);
        total += numbers[way];
    }
    printf(" %6d\n", total);
}

void points_print(void) {
    int totals[WAYS] = {0};
    printf("\n%s tried on %s, one in %d\n%-*s", points_options.pairs ? "pairs" : "points", pool.entry,
           points_options.every, NAME_WIDTH, "operation, plan");
    for (int way = 0; way < WAYS; way++)
        if (points_options.ways[way]) printf(" %s", way_names[way]);
    printf(" %6s\n", "all");
    for (size_t i = 0; i < line_count; i++) {
        print_line(lines[i].name, lines[i].points);
        for (int way = 0; way < WAYS; way++)
            totals[way] += lines[i].points[way];
    }
    print_line("all", totals);
}

/* ---- One point ----------------------------------------------------------------------------------------- */

/* What fails in the application's transaction without a word of the database is for us alone to remember. */
static int step_of(const struct operation *operation, enum way way) {
    enum { CLOSE = 3 };
    if (points_options.all && points_options.every == 1) return 1;
    if (way == WAY_ALLOCATION && operation_is(operation, TRAIT_TRANSACTION) && points_options.every > CLOSE)
        return CLOSE;
    return points_options.every * (operation_is(operation, TRAIT_EXPENSIVE) ? EXPENSIVE : 1);
}

static int letters(const char *name) {
    int sum = 0;
    for (; name && *name; name++)
        sum += *name;
    return sum;
}

/* The operation and the plan that are tried. */
struct tried {
    const struct operation *operation;
    const char *plan;
    int counts[WAYS]; /* its points */
};

static int first_of(const struct tried *tried, enum way way, int within) {
    return 1 + (letters(tried->operation->name) + letters(tried->plan) + (int)way) % within;
}

/* ---- Pairs --------------------------------------------------------------------------------------------- */

/* All loops come in turn. */
static enum run_result run_pair(const struct tried *tried, struct point first, struct point second) {
    int loop = ((int)first.way + first.k + (int)second.way + second.k) % LOOPS;
    while (!loop_is_possible((enum loop)loop, tried->operation))
        loop--;
    return run_once(tried->plan, first, second, (enum loop)loop);
}

/* Every call of the next try, in every way. */
static int run_all_seconds(const struct tried *tried, struct point first) {
    int pairs = 0;
    for (int way = 0; way < WAY_ALLOCATION; way++) {
        struct point second = {(enum way)way, 1};
        for (; points_options.ways[way] && run_pair(tried, first, second) == RUN_BOTH_FAILED; second.k++)
            pairs++;
    }
    return pairs;
}

/* One; which, hangs on the first. */
static int run_one_second(const struct tried *tried, struct point first) {
    enum run_result end = RUN_ASKED_AGAIN;
    int turn = first_of(tried, first.way, WAY_ALLOCATION) + first.k;
    for (int i = 0; i < WAY_ALLOCATION; i++) {
        struct point second = {(enum way)((turn + i) % WAY_ALLOCATION), 0};
        int count = tried->counts[second.way];
        if (!points_options.ways[second.way] || !count) continue;
        for (second.k = 1 + (7 * turn) % count; second.k && end == RUN_ASKED_AGAIN; second.k /= 2)
            end = run_pair(tried, first, second);
        if (end != RUN_ASKED_AGAIN) return end == RUN_BOTH_FAILED;
    }
    return 0;
}

/* ---- All points ---------------------------------------------------------------------------------------- */

/* Gives how many points or pairs were met. */
static int run_point(const struct tried *tried, enum way way, int k) {
    struct point first = {way, k}, none = {way, 0};
    if (!points_options.pairs) return run_once(tried->plan, first, none, LOOP_SAME) == RUN_FIRST_FAILED;
    return points_options.all ? run_all_seconds(tried, first) : run_one_second(tried, first);
}

/* Clocks and other threads may change the count from run to run, so a point may not be met. Where none was,
 * earlier ones are tried. */
static int run_way(const struct tried *tried, enum way way) {
    int step = step_of(tried->operation, way), count = tried->counts[way], met = 0;
    if (count == 0) return 0;
    int first = first_of(tried, way, step < count ? step : count);
    for (int k = first; k <= count; k += step)
        met += run_point(tried, way, k);
    for (int k = first / 2; k && !met; k /= 2)
        met += run_point(tried, way, k);
    return met;
}

static int turns_of(const struct tried *tried) {
    bool fewer = points_options.turns > 1 && points_options.pairs;
    return points_options.turns * (fewer && operation_is(tried->operation, TRAIT_EXPENSIVE) ? 2 : 1);
}

/* In four turns the four servers see all ways, in eight each sees another: their names' last letters
 * differ. */
static int server_number(void) {
    return pool.entry[strlen(pool.entry) - 1];
}

static bool is_tried(const struct tried *tried, enum way way, bool calls, int turn) {
    if ((way != WAY_ALLOCATION) != calls || !points_options.ways[way]) return false;
    turn += letters(tried->operation->name) + letters(tried->plan) + server_number() + (int)way;
    return turn % turns_of(tried) == 0;
}

/* Some operations try again themselves after a failure, and no second one is met: then the next ways have
 * their turn. */
static void run_plan(const struct operation *operation, const char *plan, bool calls) {
    struct tried tried = {.operation = operation, .plan = plan};
    int counted = 0, met = 0, *line = table_line(operation->name, plan);
    run_count(plan, tried.counts);
    for (int turn = 0; turn < turns_of(&tried) && !met; turn++) {
        for (int way = 0; way < WAYS; way++) {
            if (!is_tried(&tried, (enum way)way, calls, turn)) continue;
            met += line[way] = run_way(&tried, (enum way)way);
            counted += tried.counts[way];
        }
    }
    if (counted && !met) wrong("none of %d points was met", counted);
}

static void run_operation(const struct operation *operation, bool calls) {
    run_begin(operation);
    inject_open(points_options.all);
    if (!operation_is(operation, TRAIT_EACH_PLAN)) run_plan(operation, operation->plan, calls);
    if (operation_is(operation, TRAIT_ALSO_HOLD) && pool_plan_possible("hold"))
        run_plan(operation, "hold", calls);
    for (int p = 0; p < PLANS && operation_is(operation, TRAIT_EACH_PLAN); p++)
        if (pool_plan_possible(pool_plans[p]) && !pool_plan_holds(pool_plans[p]))
            run_plan(operation, pool_plans[p], calls);
    expect_sound_pools();
    expect_number(run_end(), 0);
}

void points_of_calls(const struct operation *operation) {
    run_operation(operation, true);
}

void points_of_allocations(const struct operation *operation) {
    run_operation(operation, false);
}

int points_end_test(void **state) {
    (void)state;
    run_give_up();
    return 0;
}
