/* origins DESIGN: runs one design's tests on the database of TASKPOOL_TEST_DSN.
 * origins --child ROLE ...: a process that a test started. */
#include "ops/conn.h"
#include "origins/origins.h"
#include "support/faults.h"

enum { DESIGNS = 5 };
static struct design designs[DESIGNS];
static int design_count;
static const struct design *design; /* whose tests run */

void design_enrol(const struct design *new) {
    if (design_count == DESIGNS) abort();
    designs[design_count++] = *new;
}

static const struct design *find_design(const char *name) {
    for (int i = 0; i < design_count; i++)
        if (strcmp(designs[i].name, name) == 0) return &designs[i];
    return NULL;
}

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
    for (size_t i = 0; i < COUNT(own); i++)
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
    char group[80];
    snprintf(group, sizeof group, "origins.%s.%s", design->name, pool.entry);
    return test_run(&(struct test_group){.name = group,
                                         .file = design->name,
                                         .set_up = set_up,
                                         .tear_down = tear_down,
                                         .set_up_all = make_tables,
                                         .tear_down_all = drop_tables});
}

int main(int argc, char **argv) {
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (role_is_played(argc, argv)) {
        pool_join();
        return role_play(argc, argv);
    }
    design = argc > 1 ? find_design(argv[1]) : NULL;
    if (!design) {
        fprintf(stderr, "usage: origins DESIGN\n");
        return 2;
    }
    faults_open();
    pool_open();
    faults_spare(&pool.a->store.link);
    faults_spare(&pool.b->store.link);
    faults_spare(&pool.eye->store.link);
    int failed = run();
    pool_close();
    return failed != 0;
}
