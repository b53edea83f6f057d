/* conformance [--themes NAME,...] [--only PATTERN]: runs the suite on the database of TASKPOOL_TEST_DSN, once
 * for every claim plan possible there, see suite.h. PATTERN, with * and ?, is matched with "[plan] test_...";
 * one that fits nothing is a failure. conformance --child ROLE ...: a process that a test started. */
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ops/pause.h"
#include "suite.h"
#include "support/faults.h"

struct suite_theme *suite_themes;

/* In the order of names, and of lines. The first test of a theme brings it in. */
void suite_enter(struct suite_theme *theme, struct suite_test *test, enum suite_runs runs) {
    struct suite_test **at = &theme->tests;
    struct suite_theme **place = &suite_themes;
    bool known = theme->tests != NULL;
    while (*at && (*at)->line < test->line)
        at = &(*at)->next;
    test->runs = runs;
    test->next = *at;
    *at = test;
    while (*place && strcmp((*place)->name, theme->name) < 0)
        place = &(*place)->next;
    if (known) return;
    theme->next = *place;
    *place = theme;
}

static const char *wanted; /* names of themes with commas between; NULL: all */

static bool is_wanted(const char *theme) {
    size_t length = strlen(theme);
    for (const char *at = wanted; at; at = strchr(at, ',')) {
        at += *at == ',';
        if (strncmp(at, theme, length) == 0 && (at[length] == ',' || at[length] == '\0')) return true;
    }
    return !wanted;
}

/* Claims read what is open, so what earlier tests left open would slow down the later ones. */
static int set_up(void **state) {
    faults_clear(); /* which an earlier test may have left aimed */
    tpi_pause_hint(false);
    int failed = pool_fresh(state);
    empty_pool();
    return failed;
}

static int tear_down(void **state) {
    (void)state;
    given_back();
    return 0;
}

static char *full_name(const char *plan, const char *name) {
    size_t size = strlen(plan) + strlen(name) + 4;
    char *text = malloc(size);
    if (!text) abort();
    snprintf(text, size, "[%s] %s", plan, name);
    return text;
}

static size_t gathered;
static char only[256] = "*";

/* Its brackets are those of the names. */
static void set_pattern(const char *pattern) {
    size_t length = 0;
    for (const char *at = pattern; *at && length + 2 < sizeof only; at++) {
        if (*at == '[') only[length++] = '\\';
        only[length++] = *at;
    }
    only[length] = '\0';
}

static const char *plans[PLANS]; /* those of the database */
static int plan_count;
static bool all_plans;

/* Of the plan's turn: which it is, hangs on the test's line and on the database. */
static bool is_turn(const struct suite_test *test, const char *plan) {
    int turn = test->line;
    for (const char *at = pool.entry; *at; at++)
        turn += *at;
    return all_plans || strcmp(plans[turn % plan_count], plan) == 0;
}

static bool is_run(const struct suite_test *test, enum suite_runs runs, const char *plan) {
    if (test->runs == A_PLAN) return runs == EACH_PLAN && !pool_plan_holds(plan) && is_turn(test, plan);
    if (test->runs == EACH_PLAN_AND_HOLD) return runs == EACH_PLAN;
    return test->runs == runs && !pool_plan_holds(plan);
}

static size_t gather(struct CMUnitTest *tests, enum suite_runs runs, const char *plan) {
    size_t count = 0;
    for (const struct suite_theme *theme = suite_themes; theme; theme = theme->next)
        for (const struct suite_test *test = theme->tests; test && is_wanted(theme->name);
             test = test->next) {
            if (!is_run(test, runs, plan)) continue;
            char *name = full_name(plan, test->name);
            if (fnmatch(only, name, 0) == 0)
                tests[count++] = (struct CMUnitTest){name, test->run, set_up, tear_down, NULL};
            else
                free(name);
        }
    return count;
}

static size_t count_all(void) {
    size_t count = 0;
    for (const struct suite_theme *theme = suite_themes; theme; theme = theme->next)
        for (const struct suite_test *test = theme->tests; test; test = test->next)
            count++;
    return count;
}

/* Gives the number of tests that failed. */
static int run(enum suite_runs runs, const char *plan) {
    struct CMUnitTest *tests = calloc(count_all() + 1, sizeof *tests);
    char group[80];
    if (!tests) abort();
    size_t count = gather(tests, runs, plan);
    gathered += count;
    pool.plan = runs == EACH_PLAN ? plan : NULL;
    snprintf(group, sizeof group, "conformance.%s %s", pool.entry, plan);
    int failed = _cmocka_run_group_tests(group, tests, count, NULL, NULL);
    for (size_t i = 0; i < count; i++)
        free((char *)(uintptr_t)tests[i].name);
    free(tests);
    return failed;
}

static int run_all(void) {
    int failed = run(ONCE, "any plan");
    for (int i = 0; i < PLANS; i++)
        if (pool_plan_possible(pool_plans[i]) && !pool_plan_holds(pool_plans[i]))
            plans[plan_count++] = pool_plans[i];
    for (int i = 0; i < plan_count; i++)
        failed += run(EACH_PLAN, plans[i]);
    return pool_plan_possible("hold") ? failed + run(EACH_PLAN, "hold") : failed;
}

int main(int argc, char **argv) {
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (argc > 2 && strcmp(argv[1], "--child") == 0) return role_run(argv[2], argv + 3);
    if (argc > 2 && strcmp(argv[1], "--themes") == 0) {
        wanted = argv[2];
        argc -= 2;
        argv += 2;
    }
    all_plans = argc > 2 && strcmp(argv[1], "--only") == 0;
    if (all_plans) set_pattern(argv[2]);
    pool_open();
    int failed = run_all();
    pool_close();
    if (gathered == 0)
        print_error("conformance: no test fits %s in the themes of %s\n", only, wanted ? wanted : "all");
    return failed != 0 || gathered == 0;
}
