/* test_faults [--calls | --allocations | --ways NAME,...] [--pairs] [--only GROUP] [--every N] [--turns N]
 * [--all]: makes every call to the driver and every allocation fail once, in every way, in every operation,
 * on the database of TASKPOOL_TEST_DSN, and prints how many points it tried. --every N: one point in N.
 * --turns N: of each operation one way in N. --all: the long form. --pairs: of the calls, and the next try
 * fails too; loops of applications around a call: loop.h. One program, because both kinds of faults go
 * through the same operations: the functions that --wrap puts before allocations pass them on while none is
 * to fail. Read next: operation.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "faults/points.h"
#include "ops/doctor.h"

enum { TESTS_MAX = 1000 };

static const struct group *const groups[] = {
#define GROUP_POINTER(name) &name##_group,
    GROUP_LIST(GROUP_POINTER)
#undef GROUP_POINTER
};

static struct CMUnitTest tests[TESTS_MAX];
static size_t test_count;

static void test_memory__whatever_fails_is_said_and_can_be_asked_again(void **state) {
    points_of_allocations(*state);
}

static bool is_possible(const struct operation *operation) {
    if (operation_is(operation, TRAIT_SQLITE) && !pool_on_sqlite()) return false;
    if (operation_is(operation, TRAIT_OWN_IDS) && pool_on_generic()) return false;
    /* The whole script would put Oracle's own functions in the place of the stand-in's. */
    if (operation_is(operation, TRAIT_NO_TABLES) && prepared()) return false;
    return !operation->plan || pool_plan_possible(operation->plan);
}

static void add(const struct operation *operation, void (*test)(void **state)) {
    sure(test_count < TESTS_MAX, "too many operations");
    tests[test_count++] = (struct CMUnitTest){.name = operation->name,
                                              .test_func = test,
                                              .setup_func = pool_fresh,
                                              .teardown_func = points_end_test,
                                              .initial_state = (void *)(uintptr_t)operation};
}

static bool calls_fail(void) {
    for (int way = 0; way < WAY_ALLOCATION; way++)
        if (points_options.ways[way]) return true;
    return false;
}

static void add_group(const struct group *group) {
    for (size_t i = 0; i < group->count; i++) {
        const struct operation *operation = &group->operations[i];
        if (!is_possible(operation)) continue;
        /* They try again themselves. */
        if (points_options.pairs && operation_is(operation, TRAIT_SESSIONS)) continue;
        if (calls_fail() && !operation_is(operation, TRAIT_ALLOCATIONS)) add(operation, group->test);
        if (points_options.ways[WAY_ALLOCATION])
            add(operation, test_memory__whatever_fails_is_said_and_can_be_asked_again);
    }
}

/* One name, or several with commas between. */
static bool choose_ways(char *names) {
    char *rest = NULL;
    for (char *name = strtok_r(names, ",", &rest); name; name = strtok_r(NULL, ",", &rest)) {
        int way = 0;
        while (way < WAYS && strcmp(way_names[way], name) != 0)
            way++;
        if (way == WAYS) return false;
        points_options.ways[way] = true;
    }
    return true;
}

static void choose(bool calls, bool allocations) {
    for (int way = 0; way < WAYS; way++)
        points_options.ways[way] = way == WAY_ALLOCATION ? allocations : calls;
}

static bool is(const char *option, const char *name) {
    return strcmp(option, name) == 0;
}

/* False: there is no such option, or no such value. */
static bool read_valued(const char *option, char *value, const char **only) {
    int *number = is(option, "--every") ? &points_options.every : &points_options.turns;
    if (is(option, "--ways")) return choose_ways(value);
    if (is(option, "--only")) {
        *only = value;
        return true;
    }
    *number = (int)strtol(value, NULL, 10);
    return (is(option, "--every") || is(option, "--turns")) && *number > 0;
}

/* False: an option that there is not, or one without its value. */
static bool read_options(char **options, const char **only) {
    bool ways_chosen = false;
    for (char **at = options; *at; at++) {
        bool chosen = is(*at, "--calls") || is(*at, "--allocations");
        ways_chosen |= chosen || is(*at, "--ways");
        if (is(*at, "--all"))
            points_options.all = true;
        else if (is(*at, "--pairs"))
            points_options.pairs = true;
        else if (chosen)
            choose(is(*at, "--calls"), is(*at, "--allocations"));
        else if (at[1] && read_valued(at[0], at[1], only))
            at++;
        else
            return false;
    }
    if (!ways_chosen) choose(true, !points_options.pairs);
    if (!points_options.every) points_options.every = points_options.all ? 1 : EVERY;
    if (!points_options.turns)
        points_options.turns = points_options.pairs && !points_options.all ? PAIRED : 1;
    return !points_options.pairs || !points_options.ways[WAY_ALLOCATION];
}

static void print_usage(void) {
    print_error("usage: test_faults [--calls | --allocations | --ways NAME,...] [--pairs] [--only GROUP] "
                "[--every N] [--turns N] [--all]\nways:");
    for (int way = 0; way < WAYS; way++)
        print_error(" %s", way_names[way]);
    print_error("\ngroups:");
    for (size_t i = 0; i < sizeof groups / sizeof groups[0]; i++)
        print_error(" %s", groups[i]->name);
    print_error("\n");
}

static void print_broken(const tp_finding *finding, void *arg) {
    if (strcmp(finding->name, "chain") != 0 || finding->ok) return;
    print_error("the audit's chain: %s\n", finding->text);
    ++*(int *)arg;
}

/* Of all runs together. */
static int audit_is_broken(void) {
    int broken = 0;
    must(tp_audit_check(pool.eye, NULL, print_broken, &broken, NULL));
    return broken;
}

int main(int argc, char **argv) {
    const char *only = NULL;
    (void)argc;
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (!read_options(argv + 1, &only)) {
        print_usage();
        return 2;
    }
    tpi_schema_pause_ms = 1;
    pool_open();
    snapshot_open();
    for (size_t i = 0; i < sizeof groups / sizeof groups[0]; i++)
        if (!only || strcmp(only, groups[i]->name) == 0) add_group(groups[i]);
    if (test_count == 0) print_error("test_faults: there is no group %s\n", only);
    int failed = test_count ? _cmocka_run_group_tests("faults", tests, test_count, NULL, NULL) : 1;
    failed += audit_is_broken();
    points_print();
    snapshot_close();
    pool_close();
    return failed != 0;
}
