/* The name under which the history records what an operator does (retry, purge, pause, ...): the one given
 * with
 * --who, else user@host. Must not know what is recorded. */
#ifndef COMMON_OPERATOR_NAME_H
#define COMMON_OPERATOR_NAME_H

/* given, or user@host. Not for threads. */
const char *operator_name(const char *given);

#define OPTION_WHO(slot) OPTION_TEXT("who", '\0', slot, "NAME", "recorded as who did it (you: user@host)")

#endif
