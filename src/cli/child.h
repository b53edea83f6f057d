/* One run of a handler program: gives it the parameters, passes on its output, and ends it after its time or
 * at a stop. Must not know what the end means for the task, which handle.c decides. Read next: program.h,
 * which starts it. */
#ifndef CLI_CHILD_H
#define CLI_CHILD_H

#include <sys/types.h>

#include "cli.h"
#include "lines.h"

enum child_end {
    CHILD_EXITED,   /* by itself, with code */
    CHILD_KILLED,   /* by signal code, not ours */
    CHILD_TIMEOUT,  /* we ended it, it took too long */
    CHILD_STOPPED,  /* we ended it, stop said so */
    CHILD_NO_START, /* it did not start; code is errno */
    CHILD_UNKNOWN,  /* it has ended, and somebody else took its exit code; code is errno */
};

struct child_order {
    const char *path;
    const tp_task *task;
    const char *const *variables; /* more of them, as program_start takes; may be NULL */
    const char *params;
    size_t length;
    int64_t timeout_ms; /* 0: none */
    /* Called in each round of the loop: whether to end the program, which is process pid. */
    bool (*stop)(void *arg, pid_t pid);
    void *stop_arg;
    void (*write_out)(const char *text, size_t length);
    void (*write_err)(const char *text, size_t length);
    bool (*takes_out)(void); /* false: there is no room for its output now; it is read later */
    bool (*takes_err)(void);
    /* What it says of how far it is; NULL: it gets no files to report to. */
    void (*progress)(void *arg, int percent, const char *message);
    void *progress_arg;
};

struct child_result {
    enum child_end end;
    int code;
    char reason[TP_REASON_MAX + 1]; /* the last line it wrote to stderr, or "" */
    char *result;                   /* what it gave back, to be freed; NULL: nothing */
    bool result_cut;                /* that is not all of it */
};

/* Returns when the program has ended and is reaped. Any thread. */
void child_run(const struct child_order *order, struct child_result *result);

#endif
