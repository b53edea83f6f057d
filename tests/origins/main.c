/* origins DESIGN [--only PATTERN]: runs one design's tests on the database of TASKPOOL_TEST_DSN.
 * origins --child ROLE ...: a process that a test started. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ops/conn.h"
#include "origins/origins.h"
#include "support/faults.h"

static const struct design *const designs[] = {
#define DESIGN_POINTER(name) &name##_design,
    DESIGN_LIST(DESIGN_POINTER)
#undef DESIGN_POINTER
};
enum { DESIGNS = sizeof designs / sizeof designs[0] };

static const struct design *design;

static const struct design *find_design(const char *name) {
    for (size_t i = 0; i < DESIGNS; i++)
        if (strcmp(designs[i]->name, name) == 0) return designs[i];
    return NULL;
}

static int play(const char *role, char **arguments) {
    pool_join();
    for (size_t i = 0; i < DESIGNS; i++) {
        int status = designs[i]->play ? designs[i]->play(role, arguments) : -1;
        if (status >= 0) return status;
    }
    return 2;
}

/* ---- Around the tests -------------------------------------------------------------------------------- */

static int make_tables(void **state) {
    (void)state;
    for (size_t i = 0; i < design->table_count; i++) {
        const char *columns = design->tables[i].columns, *time = strstr(columns, "TIMESTAMP");
        if (time && pool_on_oracle()) /* whose applications have DATE, as the page says */
            sql_run(pool.eye, "CREATE TABLE tp_%s (%.*sDATE%s)", design->tables[i].name,
                    (int)(time - columns), columns, time + strlen("TIMESTAMP"));
        else
            sql_run(pool.eye, "CREATE TABLE tp_%s (%s)", design->tables[i].name, columns);
    }
    return 0;
}

static int drop_tables(void **state) {
    (void)state;
    for (size_t i = 0; i < design->table_count; i++)
        sql_run(pool.eye, "DROP TABLE tp_%s", design->tables[i].name);
    return 0;
}

static int set_up(void **state) {
    static const char *const own[] = {"pending", "finished", "failed", "history",
                                      "once",    "schedule", "pause",  "fx"};
    int failed = pool_fresh(state);
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
        sql_run(pool.eye, "DELETE FROM tp_%s", own[i]);
    for (size_t i = 0; i < design->table_count; i++)
        sql_run(pool.eye, "DELETE FROM tp_%s", design->tables[i].name);
    watch_open(&scene.watch);
    gate_init(&scene.gate);
    atomic_store(&scene.runs, 0);
    return failed;
}

static int tear_down(void **state) {
    (void)state;
    gate_open(&scene.gate);
    worker_close(NULL);
    watch_close(&scene.watch);
    return 0;
}

static int run(void) {
    struct CMUnitTest tests[60];
    char group[80];
    sure(design->test_count <= 60, "more tests than there is room for");
    for (size_t i = 0; i < design->test_count; i++) {
        tests[i] = design->tests[i];
        tests[i].setup_func = set_up;
        tests[i].teardown_func = tear_down;
    }
    snprintf(group, sizeof group, "origins.%s.%s", design->name, pool.entry);
    return _cmocka_run_group_tests(group, tests, design->test_count, make_tables, drop_tables);
}

int main(int argc, char **argv) {
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (argc > 2 && strcmp(argv[1], "--child") == 0) return play(argv[2], argv + 3);
    design = argc > 1 ? find_design(argv[1]) : NULL;
    if (!design) {
        fprintf(stderr, "usage: origins DESIGN [--only PATTERN]\n");
        return 2;
    }
    if (argc > 3 && strcmp(argv[2], "--only") == 0) cmocka_set_test_filter(argv[3]);
    faults_open();
    pool_open();
    faults_spare(&pool.a->store.link);
    faults_spare(&pool.b->store.link);
    faults_spare(&pool.eye->store.link);
    int failed = run();
    pool_close();
    return failed != 0;
}
