/* walk [--seed N] [--seconds N]: an application that does at random what the header allows, with faults at
 * random, and a judge over what the tables hold. A few rounds, or as many as there is time for; prints the
 * seed, by which a run is repeated. Read next: walker.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "support/check.h"
#include "support/pool.h"
#include "walk/chance.h"
#include "walk/walker.h"

enum { ROUNDS = 3, STEPS = 250 };

static uint64_t seed = 1;
static int seconds;

static void test_walk__what_was_confirmed_is_there_once_whatever_an_application_does(void **state) {
    int64_t end = tpi_clock_mono_ms() + seconds * INT64_C(1000);
    int steps = 0, faults = 0;
    (void)state;
    for (int round = 0; seconds ? tpi_clock_mono_ms() < end : round < ROUNDS; round++, seed++) {
        chance_open(seed);
        faults += walker_round(STEPS);
        steps += STEPS;
    }
    print_message("walked on %s, %d steps, %d faults\n", pool.entry, steps, faults);
}

static int end_test(void **state) {
    (void)state;
    print_message("seed %llu; the last call: %s\n", (unsigned long long)seed, walker_last());
    walker_close();
    return 0;
}

/* Its sessions share a thread, so on SQLite who waits for another's lock waits in vain. */
static void limit_waits(void) {
    char dsn[DSN_MAX];
    const char *given = getenv("TASKPOOL_TEST_DSN");
    if (!given || !strstr(given, "SQLite")) return;
    dsn_with(given, "Timeout", "1000", dsn, sizeof dsn);
    setenv("TASKPOOL_TEST_DSN", dsn, 1);
}

int main(int argc, char **argv) {
    static const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(
        test_walk__what_was_confirmed_is_there_once_whatever_an_application_does, pool_fresh, end_test)};
    bool chosen = false;
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--seed") == 0) seed = strtoull(argv[i + 1], NULL, 10);
        if (strcmp(argv[i], "--seconds") == 0) seconds = (int)strtol(argv[i + 1], NULL, 10);
        chosen |= strcmp(argv[i], "--seed") == 0;
    }
    if (seconds && !chosen) seed = (uint64_t)time(NULL);
    setvbuf(stdout, NULL, _IOLBF, 0);
    limit_waits();
    pool_open();
    print_message("seed %llu\n", (unsigned long long)seed);
    int failed = cmocka_run_group_tests_name("walk", tests, NULL, NULL);
    pool_close();
    return failed != 0;
}
