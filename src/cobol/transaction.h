/* The transaction of a call's connection. */
#ifndef COBOL_TRANSACTION_H
#define COBOL_TRANSACTION_H

#include "call.h"

TP_CHECKED tp_status transaction_begin(struct call *call);
/* None is open, and nothing may be written as if one were. */
void transaction_refuse(struct conn_handle *conn, const char *why);
/* TP_CONFLICT: it was doomed and is rolled back. */
TP_CHECKED tp_status transaction_commit(struct call *call);
TP_CHECKED tp_status transaction_rollback(struct call *call);

#endif
