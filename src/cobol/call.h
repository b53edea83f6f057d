/* One call from COBOL: its area, its arguments, its answer. And what a connection knows here beside what the
 * library knows. Read next: call.c. */
#ifndef COBOL_CALL_H
#define COBOL_CALL_H

#include <stdbool.h>
#include <stddef.h>

#include "blocks.h"
#include "numbers.h"

struct env_handle {
    tp_env *env;
};

/* Of the transaction that the program began, or TP_STEP for it. */
enum transaction {
    TRANSACTION_NONE,
    TRANSACTION_OPEN,
    TRANSACTION_DOOMED, /* a call in it failed: it can only be rolled back */
    TRANSACTION_REFUSED /* TP_BEGIN failed: nothing may be written as if it had not */
};

struct conn_handle {
    tp_conn *conn;
    struct env_handle *env;
    bool borrowed;
    bool disconnected; /* to be reopened before the next step */
    enum transaction transaction;
    char why[MESSAGE_FIELD]; /* it is doomed or refused; "" */
    int32_t in_hand;         /* the task of TP_STEP; 0 */
    bool unanswered;         /* nobody knows what became of that task */
};

struct task_handle {
    tp_batch *batch;
    struct conn_handle *conn;
    int64_t lease_ms; /* of the claim */
    char *result;     /* for when it is done; NULL: none */
};

struct call {
    const char *name;
    void *area;
    struct conn_handle *conn; /* NULL: the call has none */
    bool refused;             /* by this layer: text says why */
    char text[MESSAGE_FIELD];
};

/* TP_MISUSE: area is no TPAREA, and nothing can be answered there. */
TP_CHECKED tp_status call_begin(struct call *call, void *area, const char *name);
/* The same for a call on a connection. */
TP_CHECKED tp_status call_begin_on(struct call *call, void *area, const char *name, const void *conn);
/* Writes the answer, and dooms the connection's transaction after a failure. */
int call_end(struct call *call, tp_status status);

/* Gives status, with a text of this layer's own. */
#ifdef __GNUC__
__attribute__((format(printf, 3, 4)))
#endif
tp_status
call_refuse(struct call *call, tp_status status, const char *format, ...);

/* The same of one that has grown: a program built with the older copybook has it without what stands behind
 * least, which is zero then. */
TP_CHECKED tp_status call_block_from(struct call *call, void *copy, const void *block, size_t least,
                                     size_t size, const char *copybook);
/* Copies a block that begins with its size. */
TP_CHECKED tp_status call_block(struct call *call, void *copy, const void *block, size_t size,
                                const char *copybook);
TP_CHECKED tp_status call_env(struct call *call, const void *number, struct env_handle **env);
TP_CHECKED tp_status call_give(struct call *call, enum number_kind kind, void *handle, void *number);

/* A field of a block as text; out has room for one byte more than the field. */
TP_CHECKED tp_status call_text(struct call *call, const char *name, const char *field, size_t size,
                               char *out);
/* The same for a field whose limit is its size. */
TP_CHECKED tp_status call_text_whole(struct call *call, const char *name, const char *field, size_t size,
                                     char *out);
/* The argument for a long text (what: params, result; NULL: OMITTED), to be freed; NULL where there is none.
 */
TP_CHECKED tp_status call_long_text(struct call *call, const char *what, const char *field, int32_t size,
                                    int32_t length, char **out);
/* The other way. TP_TOOBIG: it does not fit, and the argument is all blanks. */
TP_CHECKED tp_status call_fill_text(struct call *call, const char *what, char *field, int32_t size,
                                    const char *text, size_t length);
/* Is the connection fit for a call that writes? */
TP_CHECKED tp_status call_may_write(struct call *call);

int64_t number_at(const void *field);

#endif
