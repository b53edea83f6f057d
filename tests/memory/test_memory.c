/* Every allocation of every public operation fails once: the operation must say so or answer truly, hand out
 * nothing, leave the pool legal, and do what was asked when it is asked again. Run under the address
 * sanitizer, it also shows that nothing is lost of what was allocated before. Prints how many points were
 * tried. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "faults/scene.h"
#include "memory/alloc.h"

enum {
    SERVER_STEP = 3,
    HEAVY_STEP = 12,
    SLOW_STEP = 60,
    POINTS_MAX = 2000,
    THREAD_POINTS = 60,
    ACTS_MAX = 160
};

static bool all; /* the long form: no point is left out */

static unsigned all_points, all_acts;

/* ---- One point ---------------------------------------------------------------------------------------- */

static void note_bad(const tp_finding *finding, void *arg) {
    (void)arg;
    if (!finding->ok) print_error("%s: %s\n", finding->name, finding->text);
}

static void expect_good_pool(void) {
    int bad = 0;
    must(tp_check(pool.eye, note_bad, NULL, &bad));
    expect_number(bad, 0);
}

static void check_failure(const struct act *act, tp_status status, bool failed, unsigned point) {
    const tp_error *error = tp_last_error();
    if (failed && status == TP_NOMEM && error->status == TP_NOMEM && *error->text) return;
    fail_msg("%s, allocation %u: answered %s (%s)", act->name, point, tp_status_name(status), error->text);
}

static void ask_again(const struct act *act, struct scene *scene, tp_status *status) {
    if (act->flags & ACT_INSIDE) {
        expect(TP_CONFLICT, tp_commit(scene->conn));
        must(tp_begin(scene->conn));
    }
    scene->again = true;
    *status = act->ask(scene);
    if (*status < TP_OK) fail_msg("asked again: %s", tp_last_error()->text);
}

/* False: so many allocations there are not. */
static bool try_point(const struct act *act, unsigned point) {
    struct scene scene;
    scene_open(&scene, act);
    if (act->flags & ACT_INSIDE) must(tp_begin(scene.conn));
    alloc_arm(point);
    tp_status status = act->ask(&scene);
    bool failed = alloc_disarm();
    if (status < TP_OK) {
        check_failure(act, status, failed, point);
        ask_again(act, &scene, &status);
    }
    if (act->flags & ACT_INSIDE) must(tp_commit(scene.conn));
    act->judge(&scene, status);
    scene_close(&scene, act);
    return failed;
}

/* ---- One operation ------------------------------------------------------------------------------------- */

/* From one point to the next. On servers, whose commits take long and whose code is mostly the same, every
 * third is tried. */
static unsigned step_of(const struct act *act) {
    if (all) return 1;
    if (act->flags & ACT_SLOW) return SLOW_STEP;
    if (pool_on_sqlite()) return 1;
    return act->flags & ACT_HEAVY ? HEAVY_STEP : SERVER_STEP;
}

static void test_memory__whatever_fails_is_said_and_can_be_asked_again(void **state) {
    const struct act *act = *state;
    unsigned tried = 0, step = step_of(act), point = 1 + all_acts % step;
    unsigned most = act->flags & ACT_THREADS ? THREAD_POINTS : POINTS_MAX;
    scene_wipe();
    for (; point <= most && try_point(act, point); point += step)
        tried++;
    if (point > POINTS_MAX) fail_msg("%s does not come to its end", act->name);
    printf("%-52s %5u points\n", act->name, tried);
    expect_good_pool();
    all_points += tried;
    all_acts++;
}

/* ---- All ----------------------------------------------------------------------------------------------- */

static const struct act *const themes[] = {scenes_of_connections, scenes_of_producers, scenes_of_claims,
                                           scenes_of_settles,     scenes_of_operators, scenes_of_schedules,
                                           scenes_of_workers};

static bool possible(const struct act *act) {
    if ((act->flags & ACT_SQLITE) && !pool_on_sqlite()) return false;
    return !act->plan || pool_plan_possible(act->plan);
}

static size_t gather(struct CMUnitTest *tests) {
    size_t count = 0;
    for (size_t i = 0; i < sizeof themes / sizeof themes[0]; i++)
        for (const struct act *act = themes[i]; act->name && count < ACTS_MAX; act++)
            if (possible(act))
                tests[count++] = (struct CMUnitTest){
                    .name = act->name,
                    .test_func = test_memory__whatever_fails_is_said_and_can_be_asked_again,
                    .initial_state = (void *)(uintptr_t)act};
    return count;
}

/* What is tried here does not hang on the disk. */
static void hurry(tp_conn *conn) {
    if (pool_on_postgres()) sql_run(conn, "SET synchronous_commit = off");
    if (pool_on_sqlite()) sql_run(conn, "PRAGMA synchronous = OFF");
}

int main(int argc, char **argv) {
    struct CMUnitTest tests[ACTS_MAX];
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--all") == 0) all = true;
        if (strcmp(argv[i], "--only") == 0 && i + 1 < argc) cmocka_set_test_filter(argv[++i]);
    }
    pool_open();
    hurry(pool.a);
    hurry(pool.b);
    hurry(pool.eye);
    size_t count = gather(tests);
    int failed = _cmocka_run_group_tests("memory", tests, count, NULL, NULL);
    printf("%s: %u allocations of %u operations failed, each once\n", pool.entry, all_points, all_acts);
    pool_close();
    return failed != 0;
}
