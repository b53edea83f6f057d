/* What people select tasks by, checked once and as the statements take it; the same for lists, failures and
 * what operators do. It must not know what is done to the tasks. Read next: list.c, operate_select.c.
 */
#ifndef TPI_OPS_SELECT_H
#define TPI_OPS_SELECT_H

#include "core/alike.h"
#include "ops/conn.h"

/* Later than every time, and before every id. */
#define TPI_END_OF_TIME INT64_MAX
#define TPI_FIRST_ID    "00000000-0000-0000-0000-000000000000"

/* As the caller gave it. NULL, 0: any. */
struct tpi_wanted {
    const char *handler, *state, *biz_key, *dedup_key, *reason, *reason_like, *worker;
    int64_t since, until;
    const char *group, *gate; /* by ids: tpi_select_members */
};

struct tpi_select {
    struct tpi_wanted wanted;
    char part[TPI_LIKE_SIZE];           /* pattern for the reason; "": any */
    char alike[TPI_ALIKE_SIZE];         /* what it must become, beside fitting the pattern; "": any */
    char owner_part[TPI_UUID_SIZE + 1]; /* pattern for the token; "": any */
    int64_t since, until;
};

/* TP_MISUSE or TP_TOOBIG with text unless it can be selected by. */
TP_CHECKED tp_status tpi_select_begin(struct tpi_select *select, const struct tpi_wanted *wanted);
/* Arguments that every selecting statement may name. */
void tpi_select_args(const struct tpi_select *select, struct tpi_args *args);
/* What the statement's pattern lets through may still not be meant. */
bool tpi_select_has(const struct tpi_select *select, const char *reason);
/* Ids to which a selection is narrowed down; start from {0}, free all. */
struct tpi_ids {
    char (*all)[TPI_UUID_SIZE];
    size_t count;
    bool narrowed; /* false: any id, so far */
};
/* Keeps those that were found as well; frees what was found, or takes it over. */
void tpi_ids_narrow(struct tpi_ids *ids, struct tpi_ids *found);
/* Narrows them down to the tasks of the group and to those behind the gate (NULL: any), and puts them in
 * order, each once. */
TP_CHECKED tp_status tpi_select_members(tp_conn *conn, const char *group, const char *gate,
                                        struct tpi_ids *ids);
/* Writes to out the first ids behind after, at most so many; returns how many. */
size_t tpi_ids_behind(const struct tpi_ids *ids, const char *after, size_t most, const char **out);
/* The first tasks of the group, or those that wait for its end, in the order of their ids, behind after_id
 * (NULL: all). */
TP_CHECKED tp_status tpi_select_group(tp_conn *conn, const char *group, bool waits, const char *after_id,
                                      size_t most, struct tpi_ids *found);
/* Is there more than a handler's index or a time to look for? */
bool tpi_select_is_narrow(const struct tpi_select *select);

#endif
