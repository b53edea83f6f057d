/* Finds the processes that a handler program started, by what /proc shows of this system; without it (not
 * Linux, or not mounted) it finds none. Must not know why they are wanted: child.c ends them, running.c reaps
 * them. */
#ifndef CLI_PROCESSES_H
#define CLI_PROCESSES_H

#include <sys/types.h>

#include "cli.h"

struct process {
    pid_t pid, parent, group;
    char state;               /* Z: it has ended and waits for its parent */
    unsigned long long start; /* distinguishes it from a later process with the same number */
    bool ours;
};

struct processes {
    struct process *list;
    size_t count;
};

/* Those that are there now; without memory not all. The caller calls processes_free. */
void processes_read(struct processes *all);
void processes_free(struct processes *all);

/* Leaves in found the processes that come from a task's program, the program itself not among them: what
 * descends from it or from what was found before, and orphans of ours that carry the task in their
 * environment. */
void processes_find(struct processes *found, pid_t program, const tp_task *task);
/* Sends the signal to all that are not in the group. */
void processes_signal(const struct processes *found, pid_t group, int number);

#endif
