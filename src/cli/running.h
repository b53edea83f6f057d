/* The programs that run now, and the orphans that they leave: started and reaped in one file, so that no
 * process is reaped twice. Must not know what a program does with its task. Read next: program.h,
 * processes.h. */
#ifndef CLI_RUNNING_H
#define CLI_RUNNING_H

#include "program.h"

#define CHILDREN_MAX 1000 /* at the same time */

/* As program_start. */
int running_start(const char *path, const tp_task *task, const char *const *more, bool reports,
                  struct started *started);
/* Waits for its end; status as of waitpid. 0, or errno: what became of it is not known. */
int running_reap(pid_t pid, int *status);
/* SIGKILL to all that run now, and to their groups. Safe in a signal handler. */
void running_kill_all(void);

/* From now on, until the process ends. Before the first program. */
void running_reap_orphans(void);

#endif
