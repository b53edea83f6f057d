/* test_faults [--calls | --allocations | --ways NAME,...] [--only GROUP] [--every N] [--all]: makes every
 * call to the driver and every allocation fail once, in every way, in every operation, on the database of
 * TASKPOOL_TEST_DSN, and prints how many points it tried. --every N, or TASKPOOL_FAULTS_EVERY: one point in
 * N.
 * --all: the long form. One program, because both kinds of faults go through the same operations: the
 * functions that --wrap puts before allocations pass them on while none is to fail. Read next: operation.h.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "faults/points.h"
#include "faults/table.h"

enum { TESTS_MAX = 400 };

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
    if ((operation->traits & TRAIT_SQLITE) && !pool_on_sqlite()) return false;
    return !operation->plan || pool_plan_possible(operation->plan);
}

static void add(const struct operation *operation, void (*test)(void **state)) {
    sure(test_count < TESTS_MAX, "too many operations");
    tests[test_count++] = (struct CMUnitTest){.name = operation->name,
                                              .test_func = test,
                                              .setup_func = pool_fresh,
                                              .teardown_func = points_left,
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
        if (calls_fail() && !(operation->traits & TRAIT_ALLOCATIONS)) add(operation, group->test);
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

/* The group to run alone goes to only. False: an option that there is not. */
static bool read_options(int argc, char **argv, const char **only) {
    const char *every = getenv("TASKPOOL_FAULTS_EVERY");
    bool ways_chosen = false;
    for (int i = 1; i < argc; i++) {
        bool chooses = true;
        if (strcmp(argv[i], "--calls") == 0)
            choose(true, false);
        else if (strcmp(argv[i], "--allocations") == 0)
            choose(false, true);
        else if (strcmp(argv[i], "--ways") == 0 && i + 1 < argc && choose_ways(argv[i + 1]))
            i++;
        else
            chooses = false;
        ways_chosen |= chooses;
        if (chooses) continue;
        if (strcmp(argv[i], "--all") == 0)
            points_options.all = true;
        else if (strcmp(argv[i], "--every") == 0 && i + 1 < argc)
            every = argv[++i];
        else if (strcmp(argv[i], "--only") == 0 && i + 1 < argc)
            *only = argv[++i];
        else
            return false;
    }
    if (!ways_chosen) choose(true, true);
    if (every) points_options.every = (int)strtol(every, NULL, 10);
    return points_options.every >= 1;
}

int main(int argc, char **argv) {
    const char *only = NULL;
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (!read_options(argc, argv, &only)) {
        print_error("test_faults: see the first lines of tests/faults/main.c for its options\n");
        return 2;
    }
    pool_open();
    for (size_t i = 0; i < sizeof groups / sizeof groups[0]; i++)
        if (!only || strcmp(only, groups[i]->name) == 0) add_group(groups[i]);
    if (test_count == 0) print_error("test_faults: there is no group %s\n", only);
    int failed = test_count ? _cmocka_run_group_tests("faults", tests, test_count, NULL, NULL) : 1;
    table_print();
    pool_close();
    return failed != 0;
}
