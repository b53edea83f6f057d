/* The options of taskpool work, as texts and as what the library takes. Read next: work.c. */
#ifndef CLI_WORK_OPTIONS_H
#define CLI_WORK_OPTIONS_H

#include "common/args.h"

struct work_options {
    const char **handlers; /* NAME=PROGRAM, then NULL */
    const char **shards;   /* then NULL; may be NULL */
    char *threads, *threads_max, *keep_alive, *queue, *batch, *when_full, *pace, *lease, *hot, *poll, *idle;
    char *start_after, *plan, *settle_count, *settle_time, *stop_after, *retry, *on_crash, *deadline,
        *timeout, *later;
    char *alert, *alert_group, *name;
    char *log_format, *config;
    int in_order, schedules, drain, verbose;
    bool log_json; /* as --log-format says */
    int64_t deadline_ms, timeout_ms,
        later_ms; /* what work_read_options makes of the texts; timeout 0: none */
};
extern struct work_options work_options;
extern struct poptOption work_table[];

/* Fills what the worker is opened with. retry must live as long as the worker. A mistake ends the program. */
void work_read_options(tp_worker_options *worker, tp_retry *retry);

#endif
