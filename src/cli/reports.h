/* What a handler program writes to the descriptors beside its standard files: how far it is, line by line,
 * and its result. Whatever it writes becomes text that can be stored. Must not know processes. */
#ifndef CLI_REPORTS_H
#define CLI_REPORTS_H

#include <stdbool.h>
#include <stddef.h>

#include "taskpool.h"

struct reports {
    void (*progress)(void *arg, int percent, const char *message); /* NULL: nobody wants them */
    void *arg;
    size_t used;
    char line[TP_REASON_MAX + 16]; /* what is longer is cut */
    char *result;
    size_t length, room;
    bool cut; /* the result was too long, or memory ran out */
};

/* Progress: each line has a number from 0 to 100 and a message, or one of both. */
void reports_take_progress(struct reports *reports, const char *data, size_t length);
void reports_take_result(struct reports *reports, const char *data, size_t length);
/* The whole result, as UTF-8 of at most TP_PARAMS_MAX bytes without line ends at its end; NULL: none. To be
 * called once; the caller frees it. */
char *reports_result(struct reports *reports);

#endif
