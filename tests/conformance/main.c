/* conformance [--themes NAME,...] [--only PATTERN]: runs the suite on the database of TASKPOOL_TEST_DSN, once
 * for every claim plan possible there. PATTERN as cmocka takes it, with * and ?; it is matched with "[plan]
 * test_...". conformance --child ROLE ...: a process that a test started. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "suite.h"
#include "support/faults.h"

static const struct theme *const themes[] = {
#define THEME_POINTER(name) &name##_theme,
    THEME_LIST(THEME_POINTER)
#undef THEME_POINTER
};
enum { THEMES = sizeof themes / sizeof themes[0] };

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
    int failed = pool_fresh(state);
    sql_run(pool.eye, "DELETE FROM tp_pending");
    return failed;
}

static char *full_name(const char *plan, const char *name) {
    size_t size = strlen(plan) + strlen(name) + 4;
    char *text = malloc(size);
    if (!text) abort();
    snprintf(text, size, "[%s] %s", plan, name);
    return text;
}

static size_t gathered;

static size_t gather(struct CMUnitTest *tests, bool each_plan, const char *plan) {
    size_t count = 0;
    for (size_t i = 0; i < THEMES; i++) {
        if (themes[i]->each_plan != each_plan || !is_wanted(themes[i]->name)) continue;
        for (size_t t = 0; t < themes[i]->count; t++) {
            struct CMUnitTest *test = &tests[count++];
            *test = themes[i]->tests[t];
            test->name = full_name(plan, test->name);
            test->setup_func = set_up;
        }
    }
    return count;
}

/* Gives the number of tests that failed. */
static int run(bool each_plan, const char *plan) {
    struct CMUnitTest tests[400];
    char group[80];
    size_t count = gather(tests, each_plan, plan);
    gathered += count;
    pool.plan = each_plan ? plan : NULL;
    snprintf(group, sizeof group, "conformance.%s %s", pool.entry, plan);
    int failed = _cmocka_run_group_tests(group, tests, count, NULL, NULL);
    for (size_t i = 0; i < count; i++)
        free((char *)(uintptr_t)tests[i].name);
    return failed;
}

static int run_all(void) {
    int failed = run(false, "any plan");
    for (int i = 0; i < PLANS; i++)
        if (pool_plan_possible(pool_plans[i]) && !pool_plan_holds(pool_plans[i]))
            failed += run(true, pool_plans[i]);
    return failed;
}

int main(int argc, char **argv) {
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (argc > 2 && strcmp(argv[1], "--child") == 0) return role_run(argv[2], argv + 3);
    if (argc > 2 && strcmp(argv[1], "--themes") == 0) {
        wanted = argv[2];
        argc -= 2;
        argv += 2;
    }
    if (argc > 2 && strcmp(argv[1], "--only") == 0) cmocka_set_test_filter(argv[2]);
    pool_open();
    int failed = run_all();
    pool_close();
    if (gathered == 0) print_error("conformance: there is no theme of %s\n", wanted);
    return failed != 0 || gathered == 0;
}
