/* An edit of one task (edit.c): what the history says of it (edit_words.c), and what is asked of a second
 * person (edit_eyes.c). */
#ifndef TPI_OPS_EDIT_H
#define TPI_OPS_EDIT_H

#include "core/fsm.h"
#include "ops/conn.h"

struct tpi_edit {
    tp_conn *conn;
    tp_edit_request request;
    const char *who, *why;
    char id[TPI_UUID_SIZE];
    const tp_task *old;
    enum tpi_pool pool; /* that has it */
    int64_t at;         /* the database's clock, later than the row's last change */
    bool approved;      /* by a second person, so that it is to be done */
};

struct tpi_edit_words {
    char text[TP_REASON_MAX + 1];
    size_t used;
};

/* Is the field, TP_EDIT_..., to be written? */
bool tpi_edit_asks(const struct tpi_edit *edit, int32_t field);
/* Lengths only: params and keys may be private, and the history is kept longer. */
void tpi_edit_say(const struct tpi_edit *edit, const tp_task *old, struct tpi_edit_words *words);
void tpi_edit_say_why(const struct tpi_edit *edit, struct tpi_edit_words *words);
/* Are they the same but for what stands before each arrow, and for the why? */
bool tpi_edit_same_words(const char *stored, const char *asked);

/* What became of the request for it that an earlier try wrote: see tpi_request_earlier. */
TP_CHECKED tp_status tpi_edit_find_request(struct tpi_edit *edit);
/* TP_NONE: it needs no second person. */
TP_CHECKED tp_status tpi_edit_ask_second(struct tpi_edit *edit);
/* The edit that was asked for. */
void tpi_edit_of_request(const tp_request *request, tp_edit_request *edit);

#endif
