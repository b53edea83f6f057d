/* The name under which the history records what an operator does (retry, purge, pause, ...): that of --who,
 * else user@host. Must not know what is recorded. */
#ifndef COMMON_OPERATOR_NAME_H
#define COMMON_OPERATOR_NAME_H

#include "taskpool.h"

/* given, or user@host. Not for threads. */
const char *operator_name(const char *given);
/* Names who acts on the connection, and why, for the audit. Ends the program when it cannot. */
void operator_acts(tp_conn *conn, const char *who, const char *why);

#define OPTION_WHY(slot) OPTION_TEXT("why", '\0', slot, "TEXT", "recorded as the reason")
#define OPTION_WHO(slot) OPTION_TEXT("who", '\0', slot, "NAME", "recorded as who did it (you: user@host)")

#endif
