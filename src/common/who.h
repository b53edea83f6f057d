/* Who runs the program, for what is recorded of an operator's deeds. */
#ifndef COMMON_WHO_H
#define COMMON_WHO_H

/* given, or user@host. Not for threads. */
const char *who_text(const char *given);

#define OPTION_WHO(slot) OPTION_TEXT("who", '\0', slot, "NAME", "recorded as who did it (you: user@host)")

#endif
