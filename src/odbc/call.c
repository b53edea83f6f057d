/* The choke point of link.h: counting, tracing, faults. */
#include <inttypes.h>

#include "base/clock.h"
#include "base/trace.h"
#include "odbc/link.h"

enum tpi_fault (*tpi_link_fault)(struct tpi_link *link, const char *function);

static enum tpi_fault ask_fault(struct tpi_link *link, const char *function) {
    return tpi_link_fault ? tpi_link_fault(link, function) : TPI_FAULT_NONE;
}

void tpi_link_call_count(struct tpi_link *link) {
    link->counters.odbc_calls++;
    link->fault = TPI_FAULT_NONE;
    if (tpi_trace_on(TPI_TRACE_CALLS)) link->call_began_us = tpi_clock_mono_us();
}

bool tpi_link_call_begin(struct tpi_link *link, const char *function) {
    tpi_link_call_count(link);
    link->fault = ask_fault(link, function);
    return link->fault != TPI_FAULT_NOT_SENT;
}

SQLRETURN tpi_link_call_end(struct tpi_link *link, const char *function, SQLRETURN answer) {
    if (link->fault == TPI_FAULT_ANSWER_LOST) answer = SQL_ERROR;
    if (tpi_trace_on(TPI_TRACE_CALLS))
        tpi_trace(TPI_TRACE_CALLS, "%p %s %s = %d, %" PRId64 " us", (void *)link, function,
                  link->statement ? link->statement : "", (int)answer,
                  tpi_clock_mono_us() - link->call_began_us);
    return answer;
}
