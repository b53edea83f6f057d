/* TP_TRACE: a comma list of components to trace on stderr, read once. Lines never hold parameters or
 * passwords. A stderr that nobody reads is not waited for: a later line says how many are missing. */
#ifndef TPI_BASE_TRACE_H
#define TPI_BASE_TRACE_H

#include <stdbool.h>

#include "base/error.h"

/* X(enumerator, "name in TP_TRACE", "what it shows") */
#define TPI_TRACE_LIST(X)                                                                                    \
    X(TPI_TRACE_CALLS, "calls", "every ODBC call")                                                           \
    X(TPI_TRACE_STATEMENTS, "statements", "every SQL statement by its file name, and each commit")           \
    X(TPI_TRACE_WORKER, "worker", "what the worker's threads do")

enum tpi_trace {
#define TPI_TRACE_ENUM(id, name, what) id,
    TPI_TRACE_LIST(TPI_TRACE_ENUM)
#undef TPI_TRACE_ENUM
        TPI_TRACE_COUNT
};

bool tpi_trace_on(enum tpi_trace component);
void tpi_trace(enum tpi_trace component, const char *format, ...) TPI_PRINTF(2, 3);

#endif
