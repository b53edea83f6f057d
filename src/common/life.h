/* What is known of a task's life: when it was put in, claimed, failed, changed by operators, settled. Must
 * not print; for show and the console. */
#ifndef COMMON_LIFE_H
#define COMMON_LIFE_H

#include "records.h"
#include "taskpool.h"

enum { LIFE_EVENTS_MAX = 1000 };

struct moment {
    int64_t at;
    size_t number; /* in the order in which they were found */
    char event[16], who[160], owner[TP_ID_SIZE];
    int32_t attempt;
    char reason[TP_REASON_MAX + 1];
};

struct life {
    struct moment moments[2 * LIFE_EVENTS_MAX + 4];
    size_t count;
    bool cut;
    char worker[400]; /* whose claim was the last, as far as is known: host, process, name */
    char worker_state[16];
    int64_t worker_seen_ago_ms;
    int64_t now; /* the database's clock; 0: the task is not being handled */
};

/* Of a moment. */
extern const struct column life_columns[];
tp_status life_read(tp_conn *conn, const tp_task *task, struct life *life);
/* Somebody asked for the end of the task, which is open still: who, when and why. NULL: nobody did. */
const struct moment *life_asked(const struct life *life, const tp_task *task);
/* When the token was made; 0: it does not say. */
int64_t life_token_time(const char *token);

#endif
