/* What tests need of a database beyond the SQL that all understand, one row for each engine. A test skips
 * what the engine cannot do or its user may not do, and prints that. */
#ifndef TESTS_SUPPORT_ENGINE_H
#define TESTS_SUPPORT_ENGINE_H

#include <stdbool.h>

#include "taskpool_odbc.h"

struct engine {
    const char *names[4]; /* of which the entry's has one */
    /* The session's number; and by number: is it there, does it wait for a lock, its end. NULL: it has no
     * sessions that could be seen, or ended. */
    const char *session, *is_there, *waits, *end;
    bool waits_are_locks; /* else waits tells only that the session is busy */
    const char *rights;   /* asks whether the user may do all that; NULL: any may */
    /* A wait for a lock fails after so many units of time, and as usual again. NULL: no setting ends it. */
    const char *limit_waits, *usual_waits;
    int unit_ms;
    const char *read_only; /* what begins from now on in the session; NULL: there is no such setting */
    const char *measure;   /* the pending pool, for its plans; NULL: plans do not hang on it */
    const char *empty;     /* the same pool, whole */
    const char *explain;   /* before a statement; NULL: it answers otherwise */
    int used_index;        /* where the index that is used stands in that answer, at the earliest */
    const char *begin;     /* a transaction, by a statement; NULL: only by the attribute */
    const char *settings;  /* all that a lent session may have set */
};
/* Of this entry; after pool_open or pool_join. */
extern const struct engine *engine;

/* Finds it for the entry; gives false for one that is in no row. */
bool engine_find(const char *entry);
/* Leaves out what the connection's user has no right to. */
void engine_ask_rights(tp_conn *conn);
/* Can sessions be ended from outside? */
bool engine_ends_sessions(void);

/* From now on a statement that waits for a lock so long fails. Where no setting does that the driver is told
 * to, which it is for statements of the library that change rows, and in whole seconds. False: nor does the
 * driver. */
bool engine_limit_waits(tp_conn *conn, int ms);
void engine_usual_waits(tp_conn *conn);

/* Says that this is not tried on this entry, once; the program's end tells how much was not. */
void not_tried(const char *what);

#endif
