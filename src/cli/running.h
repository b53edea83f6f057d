/* The programs that run now: started, reaped and known in one place, so that nobody else reaps them. */
#ifndef CLI_RUNNING_H
#define CLI_RUNNING_H

#include "program.h"

#define CHILDREN_MAX 1000 /* at the same time */

/* As program_start. */
int running_start(const char *path, const tp_task *task, struct started *started);
/* Waits for its end; status as of waitpid. 0, or errno: what became of it is not known. */
int running_reap(pid_t pid, int *status);
/* Reaps a child that is none of these programs and has ended. */
void running_reap_stranger(pid_t pid);
/* SIGKILL to all that run now, and to their groups. Safe in a signal handler. */
void running_kill_all(void);

#endif
