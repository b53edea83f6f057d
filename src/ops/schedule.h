/* A schedule as it is read from its table, for those who fire it and those who list it. The calendar is
 * behind schedule_times.h and schedule_planned.h. Read next: schedule.c, schedule_fire.c. */
#ifndef TPI_OPS_SCHEDULE_H
#define TPI_OPS_SCHEDULE_H

#include "base/texts.h"
#include "ops/conn.h"
#include "ops/schedule_planned.h"

enum { TPI_MISSED_MAX = 1000, TPI_MISSED_DEFAULT = 100 };

/* texts holds what schedule points to. Ends with tpi_schedule_free. */
struct tpi_schedule_row {
    tp_schedule schedule;
    int64_t created_at;
    const char *missed; /* the policy, as it stands there */
    bool bad_missed;    /* the policy is none of ours; schedule has the default */
    const char *closed; /* likewise */
    bool bad_closed;
    int64_t rule_at;              /* with a calendar: the last time of the rule that was dealt with */
    const char *calendar_version; /* by which its next time was worked out */
    struct tpi_texts texts;
};

/* As it stands in the table. False: it is none of them. */
bool tpi_closed_parse(const char *name, tp_closed *closed);
tp_status tpi_schedule_bad_closed(void);
void tpi_schedule_free(struct tpi_schedule_row *row);
/* TP_NONE: no such schedule. */
TP_CHECKED tp_status tpi_schedule_find(tp_conn *conn, const char *name, struct tpi_schedule_row *row);

/* What the schedule puts in, without id and due time. Lives as long as the schedule. */
tp_new_task tpi_schedule_task(const tp_schedule *schedule);
/* For a change that is made only while the schedule's last task is the one that was read. */
void tpi_schedule_last_args(const tp_schedule *schedule, struct tpi_args *args);
/* Is the schedule's last task in the pending pool? */
TP_CHECKED tp_status tpi_schedule_open(tp_conn *conn, const tp_schedule *schedule, bool *open);

#endif
