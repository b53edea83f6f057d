/* The tasks of a settle of many, and the part of it that is about gates. Read next: settle_many.c,
 * settle_gated.c. */
#ifndef TPI_OPS_SETTLE_GROUP_H
#define TPI_OPS_SETTLE_GROUP_H

#include "base/texts.h"
#include "core/fsm.h"
#include "ops/conn.h"

/* One task of the call. */
struct tpi_settle_item {
    const tp_task *task;
    const char *result; /* NULL: none */
    size_t index;       /* in the caller's list */
    tp_status answer;
    bool open;        /* not answered yet */
    bool repeated;    /* the same task as the item before, whose answer it shares */
    const char *gate; /* that it is behind: it is settled by itself, after the others; NULL: none is known */
};

struct tpi_settle_many {
    tp_conn *conn;
    enum tpi_event event;
    int64_t lease_ms;
    struct tpi_settle_item *items; /* by token, then id */
    size_t count;
    bool with_results;      /* some have one */
    size_t gated;           /* how many are known to be behind gates */
    struct tpi_texts texts; /* the gates' names */
};

/* Open items of one token, to be written by one statement. */
struct tpi_settle_group {
    struct tpi_settle_item *items[TPI_LIST_MAX];
    const char *ids[TPI_LIST_MAX];
    size_t count;
};

/* Fewer rows than tasks: takes those behind gates out of the group, and of the list of args, when they are
 * all that is missing. TP_NONE: they are not. */
TP_CHECKED tp_status tpi_group_leave_out_gated(struct tpi_settle_many *many, struct tpi_settle_group *group,
                                               struct tpi_args *args, int64_t rows);
/* Completes those behind gates, one by one, and gate by gate: in the transaction that is open the gates stay
 * locked. */
TP_CHECKED tp_status tpi_group_complete_gated(struct tpi_settle_many *many);

#endif
