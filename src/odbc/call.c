/* What TPI_ODBC (link.h) does around each call of the driver: it is counted and traced, and a test may make
 * it fail. Knows nothing of what a call means. Read next: diag.c. */
#include <inttypes.h>

#include "base/clock.h"
#include "base/trace.h"
#include "odbc/link.h"

enum tpi_fault (*tpi_link_fault)(struct tpi_link *link, const char *function);

void tpi_link_call_count(struct tpi_link *link) {
    link->counters.odbc_calls++;
    link->call.fault = TPI_FAULT_NONE;
    if (tpi_trace_on(TPI_TRACE_CALLS)) link->call.began_us = tpi_clock_mono_us();
}

bool tpi_link_call_begin(struct tpi_link *link, const char *function) {
    tpi_link_call_count(link);
    if (tpi_link_fault) link->call.fault = tpi_link_fault(link, function);
    return link->call.fault != TPI_FAULT_NOT_SENT;
}

SQLRETURN tpi_link_call_end(struct tpi_link *link, const char *function, SQLRETURN answer) {
    if (link->call.fault == TPI_FAULT_ANSWER_LOST) answer = SQL_ERROR;
    if (tpi_trace_on(TPI_TRACE_CALLS))
        tpi_trace(TPI_TRACE_CALLS, "%p %s %s = %d, %" PRId64 " us", (void *)link, function,
                  link->statement ? link->statement : "", (int)answer,
                  tpi_clock_mono_us() - link->call.began_us);
    return answer;
}
