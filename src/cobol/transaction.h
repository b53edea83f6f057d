/* The transaction of a call's connection. */
#ifndef COBOL_TRANSACTION_H
#define COBOL_TRANSACTION_H

#include "call.h"

TP_CHECKED tp_status transaction_begin(struct call *call);
/* TP_CONFLICT: it was doomed and is rolled back. */
TP_CHECKED tp_status transaction_commit(struct call *call);
TP_CHECKED tp_status transaction_rollback(struct call *call);

#endif
