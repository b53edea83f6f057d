/* Standard output as people see it: whether it is a terminal and how wide, colours, and the pager. Must not
 * know tables. */
#ifndef COMMON_TERMINAL_H
#define COMMON_TERMINAL_H

#include <stdbool.h>

/* X(enumerator, colour of the terminal) */
#define TONE_LIST(X)                                                                                         \
    X(TONE_PLAIN, "")                                                                                        \
    X(TONE_HEAD, "1")  /* bold */                                                                            \
    X(TONE_GOOD, "32") /* green */                                                                           \
    X(TONE_WARN, "33") /* yellow */                                                                          \
    X(TONE_BAD, "31")  /* red */

enum tone {
#define TONE_ENUM(id, colour) id,
    TONE_LIST(TONE_ENUM)
#undef TONE_ENUM
};

/* 0: standard output is no terminal, or --json was given. Stays what it was when a pager reads the output. */
int terminal_width(void);
/* What must be printed before and behind text of that tone; "" without colours: see --color and NO_COLOR. */
const char *terminal_tone(enum tone tone);
const char *terminal_tone_end(enum tone tone);

/* From here on a pager shows what is printed, when standard output is a terminal; may be called again. To be
 * called before the first line of something that may be long. The program ignores Ctrl-C from then on: it is
 * for the pager, whose end ends the program. */
void pager_start(void);
bool pager_is_on(void);
/* Waits until the reader ends the pager. Standard output must be flushed. */
void pager_end(void);

#endif
