/* Finds and checks a handler program once, and starts it: without a shell, with a clean environment and no
 * files but 0, 1 and 2, and 3 and 4 where it may report. Must not know what becomes of it. Read next:
 * running.h. */
#ifndef CLI_PROGRAM_H
#define CLI_PROGRAM_H

#include <sys/types.h>

#include "cli.h"

/* The path of a program: name itself made absolute, or found along PATH when it has no slash. NULL: it cannot
 * be run, which was reported. The caller frees it. */
char *program_find(const char *name);

struct started {
    pid_t pid;
    int in, out, err;     /* our ends of its standard files; not blocking */
    int progress, result; /* the same of the files that it reports to; -1: it has none */
};

/* Starts the program in a process group of its own. reports: with files for its progress and its result,
 * whose numbers are in TASKPOOL_PROGRESS_FD and TASKPOOL_RESULT_FD. more: variables besides those of the
 * task, name, value,
 * ..., NULL, at most two; may be NULL. 0, or errno. */
int program_start(const char *path, const tp_task *task, const char *const *more, bool reports,
                  struct started *started);

#endif
