/* What the two files of taskpool schedule share. Read next: schedule.c. */
#ifndef CLI_SCHEDULE_H
#define CLI_SCHEDULE_H

#include "cli.h"
#include "common/args.h"

struct schedule_options {
    char *time_zone, *biz_key, *shard, *priority, *max_failures, *missed, *missed_max;
    int alone;
    char *calendar, *closed;
    char *rule, *after, *count, *who, *why;
};

tp_closed schedule_closed(const struct schedule_options *given);
/* taskpool schedule next [NAME]; name may be NULL. */
enum cli_exit schedule_next(const struct schedule_options *options, const char *name);

#endif
