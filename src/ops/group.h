/* Groups: sets of tasks that their producer closes, and tasks that wait for a group's end. Who a group's
 * tasks are stands in a table of its own, so that claims and settles know nothing of groups; that a group has
 * ended is noticed by asking (group_end.c). All that is decided by a group's state is decided under the lock
 * of its row, which who puts a task in shares where the database can; the order of locks is task, then group,
 * and of several groups by name. What is written is part of the transaction that is open. Read next: group.c,
 * docs/groups.md. */
#ifndef TPI_OPS_GROUP_H
#define TPI_OPS_GROUP_H

#include "ops/conn.h"
#include "ops/gate.h"

/* In the column gate of a task that waits stands this and the group's name. There is no such gate, and what
 * is done to tasks that wait at gates is done to these too. */
#define TPI_GROUP_AFTER '>'

/* What a row of the table of groups' tasks says. */
enum tpi_group_part { TPI_GROUP_IN, TPI_GROUP_WAITS, TPI_GROUP_WAITED };

/* A row of tp_group. */
enum { TPI_GROUP_SKIPS = 1 };
struct tpi_group {
    char state[16], rule[16];
    char parent[TP_KEY_MAX + 1];
    int64_t cancelled; /* 0: it was not; TPI_GROUP_SKIPS: what waits for it is skipped at its end */
    char seen_id[TPI_UUID_SIZE];
};
bool tpi_group_is(const struct tpi_group *group, const char *state);

/* TP_MISUSE or TP_TOOBIG with text when the new task can have none of the groups that it names. */
TP_CHECKED tp_status tpi_group_check(const tp_new_task *task);
/* Is it to come into a group, or to wait for one? */
bool tpi_group_in(const tp_new_task *task);
bool tpi_group_after(const tp_new_task *task);
/* Tasks that this transaction has just put in, some of them perhaps in groups or after them. TP_MISUSE: there
 * is no such group, or it is closed. */
TP_CHECKED tp_status tpi_groups_enter(tp_conn *conn, tp_new_task *const *tasks, size_t count);

/* Locks it alone and reads it. TP_NONE: there is none. */
TP_CHECKED tp_status tpi_group_lock(tp_conn *conn, const char *name, struct tpi_group *group);
/* Makes those of the ids due that wait for the group. */
TP_CHECKED tp_status tpi_group_release(tp_conn *conn, const char *name, const char *const *ids, size_t count);
/* Forgets groups that ended before a time, at most limit rows or a chunk more, each chunk in a transaction of
 * its own. Adds to *removed. */
TP_CHECKED tp_status tpi_groups_purge(tp_conn *conn, int64_t before, size_t limit, size_t *removed);

/* How long asking which groups have ended may take before it is noted how far each was looked at. Only tests
 * change it. */
extern int64_t tpi_group_slow_ms;

#endif
