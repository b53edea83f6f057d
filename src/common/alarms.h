/* Decides what of a pool's figures is an alarm. Pure: no database, no output. Used by check.c. */
#ifndef COMMON_ALARMS_H
#define COMMON_ALARMS_H

#include "figures.h"

enum alarm_level { ALARM_OK, ALARM_NOTE, ALARM_WARNING, ALARM_CRITICAL };
enum { ALARM_TEXT_SIZE = 512 };

struct alarm {
    const char *name; /* of the check */
    enum alarm_level level;
    int64_t count;       /* tasks or workers concerned */
    const char *handler; /* of it; NULL: none in particular */
    int64_t age_ms;      /* for how long its first task has been due, or a request has waited */
    char text[ALARM_TEXT_SIZE];
    char remedy[ALARM_TEXT_SIZE]; /* "" where nothing is to be done */
};

/* Above warning or critical is too much. */
struct alarm_limit {
    bool given;
    int64_t warning, critical;
};

struct alarm_limits {
    int64_t grace_ms; /* tasks that have been due for less are no alarm */
    struct alarm_limit age, failed, wait, held;
    char **need_worker; /* handlers, then NULL; or NULL */
};

typedef void (*alarm_fn)(const struct alarm *alarm, void *arg);
/* One call of see for each thing that is wrong or worth knowing; one for each check that finds nothing. */
void alarms_each(const struct figures *figures, const struct alarm_limits *limits, alarm_fn see, void *arg);

const char *alarm_level_name(enum alarm_level level);

#endif
