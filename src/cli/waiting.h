/* A worker that stops says for which programs it waits. */
#ifndef CLI_WAITING_H
#define CLI_WAITING_H

#include <sys/types.h>

#include "cli.h"

struct waiting {
    const tp_task *task;
    const char *path;
    int64_t since;    /* UTC, in ms */
    int64_t next_at;  /* by clock_ms */
    int64_t pause_ms; /* to the next but one; 0: nothing was said yet */
};

/* The program begins now. */
void waiting_begin(struct waiting *waiting, const tp_task *task, const char *path);
/* At each turn while the worker stops and the process runs: speaks at the first, and then now and then. */
void waiting_say(struct waiting *waiting, pid_t pid);

#endif
