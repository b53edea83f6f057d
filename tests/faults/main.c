/* test_faults [--all] [--every N] [--only GROUP]: makes every call to the driver fail once, in every way, in
 * every operation, on the database of TASKPOOL_TEST_DSN, and says how many points it tried. --all: sessions
 * are killed before every call, not only before those that go over the wire. --every N: one call in N. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "faults/ops.h"

static const struct group *const groups[] = {
#define GROUP_POINTER(name) &name##_group,
    GROUP_LIST(GROUP_POINTER)
#undef GROUP_POINTER
};

static int run_groups(const char *only) {
    int failed = 0, ran = 0;
    for (size_t i = 0; i < sizeof groups / sizeof groups[0]; i++) {
        char name[60];
        if (only && strcmp(only, groups[i]->name) != 0) continue;
        snprintf(name, sizeof name, "faults.%s %s", pool.entry, groups[i]->name);
        failed += _cmocka_run_group_tests(name, groups[i]->tests, groups[i]->count, NULL, NULL);
        ran++;
    }
    if (ran == 0) print_error("test_faults: there is no group %s\n", only);
    return ran ? failed : 1;
}

int main(int argc, char **argv) {
    const char *only = NULL;
    setvbuf(stdout, NULL, _IOLBF, 0);
    const char *every = getenv("TASKPOOL_FAULTS_EVERY");
    if (every) points_every((int)strtol(every, NULL, 10));
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--all") == 0) points_all(true);
        if (strcmp(argv[i], "--every") == 0 && i + 1 < argc) points_every((int)strtol(argv[++i], NULL, 10));
        if (strcmp(argv[i], "--only") == 0 && i + 1 < argc) only = argv[++i];
    }
    pool_open();
    int failed = run_groups(only);
    points_print();
    pool_close();
    return failed != 0;
}
