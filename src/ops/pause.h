/* Handlers whose tasks are not to be claimed. Claims ask here; nothing else depends on it. */
#ifndef TPI_OPS_PAUSE_H
#define TPI_OPS_PAUSE_H

#include "base/texts.h"
#include "ops/conn.h"

/* What a connection knows of the pause table. */
struct tpi_pauses {
    tp_paused *all; /* by handler */
    size_t count;
    struct tpi_texts texts;
    /* By tpi_clock_boot_ms. */
    int64_t read_at;
    int64_t unwanted_at; /* when the first task is not wanted any more (cancel.h); INT64_MAX: none is known */
};

/* Fresh from the database; to be freed. */
TP_CHECKED tp_status tpi_pauses_read(tp_conn *conn, struct tpi_pauses **out);
void tpi_pauses_free(struct tpi_pauses *pauses);

/* The handlers that are not known to be paused, into open, which has room for count. The connection reads the
 * table at most once a second, so that a claim seldom costs a statement more. As long as nothing was paused
 * it is not read here: before something is taken tpi_pause_refresh is called, and a claim that finds nothing
 * need not know. */
TP_CHECKED tp_status tpi_pause_leave_out(tp_conn *conn, const char *const *handlers, size_t count,
                                         const char **open, size_t *open_count);
/* Reads it again when that is a second old. */
TP_CHECKED tp_status tpi_pause_refresh(tp_conn *conn);
/* By what the connection knows. */
bool tpi_pause_knows(const tp_conn *conn, const char *handler);
/* By what the connection knows: may there be tasks that are not wanted any more? */
bool tpi_pause_unwanted(const tp_conn *conn);
/* This process has just heard of such a task: its connections do not go by what they know for a while. off:
 * they do again, for tests. */
void tpi_pause_hint(bool on);
/* Forgets what the connection knows; frees it. */
void tpi_pause_forget(tp_conn *conn);

#endif
