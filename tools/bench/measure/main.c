/* measure PART [--OPTION VALUE]...: the parts of tools/bench.sh that call the library themselves, on the
 * database of TASKPOOL_TEST_DSN, in a pool of their own. Each part prints what it counts; the Python beside
 * it makes tables of that. Rates are measured by taskpool bench. Read next: the file of a part. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/measure/measure.h"
#include "support/check.h"
#include "support/pool.h"

static const struct part {
    const char *name, *text;
    bool (*option)(const char *option, const char *value);
    CMUnitTestFunction run;
} parts[] = {
#define PART_ROW(name, text) {#name, text, name##_option, name##_run},
    PART_LIST(PART_ROW)
#undef PART_ROW
};
enum { PARTS = sizeof parts / sizeof parts[0] };

_Noreturn static void show_usage(void) {
    fprintf(stderr, "usage: measure PART [--OPTION VALUE]...\n");
    for (int i = 0; i < PARTS; i++)
        fprintf(stderr, "  %-8s  %s\n", parts[i].name, parts[i].text);
    exit(2);
}

static const struct part *read_options(int argc, char **argv) {
    const struct part *part = NULL;
    for (int i = 0; i < PARTS && argc > 1; i++)
        if (strcmp(argv[1], parts[i].name) == 0) part = &parts[i];
    if (!part || argc % 2) show_usage();
    for (int i = 2; i < argc; i += 2)
        if (strncmp(argv[i], "--", 2) != 0 || !part->option(argv[i] + 2, argv[i + 1])) show_usage();
    return part;
}

int main(int argc, char **argv) {
    const struct part *part = read_options(argc, argv);
    const struct CMUnitTest tests[] = {{part->name, part->run, NULL, NULL, NULL}};
    cmocka_set_message_output(CM_OUTPUT_TAP);
    pool_open();
    int failed = cmocka_run_group_tests_name("measure", tests, NULL, NULL);
    pool_close();
    return failed;
}
