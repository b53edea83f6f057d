/* Numbers that stand for handles in COBOL. A number that was given back is never given out again soon, so
 * that one kept too long is seen. Any thread. */
#ifndef COBOL_NUMBERS_H
#define COBOL_NUMBERS_H

#include <stdint.h>

enum number_kind { NUMBER_NONE, NUMBER_ENV, NUMBER_CONN, NUMBER_TASK };

/* 0: there are too many. */
int32_t number_give(enum number_kind kind, void *handle);
/* NULL: the number stands for nothing of that kind. */
void *number_handle(enum number_kind kind, int32_t number);
void number_drop(int32_t number);
/* Calls fn for each handle of the kind; fn may drop that number. */
void number_each(enum number_kind kind, void (*fn)(int32_t number, void *handle, void *arg), void *arg);

#endif
