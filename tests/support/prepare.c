/* See prepare.h. */
#include "support/prepare.h"

#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

bool prepared(void) {
    return getenv("TASKPOOL_TEST_PREPARE") != NULL;
}

void prepare_pool(const char *prefix) {
    char *program = getenv("TASKPOOL_TEST_PREPARE");
    char *words[] = {program, (char *)(uintptr_t)prefix, NULL};
    pid_t pid = 0;
    int status = -1;
    if (!program) return;
    if (posix_spawn(&pid, program, NULL, NULL, words, environ) == 0 && waitpid(pid, &status, 0) == pid &&
        status == 0)
        return;
    fprintf(stderr, "%s failed for prefix %s\n", program, prefix);
    exit(1);
}
