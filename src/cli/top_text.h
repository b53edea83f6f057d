/* What taskpool top says of figures, as lines of text: for the screen and for --once. Pure. */
#ifndef TOP_TEXT_H
#define TOP_TEXT_H

#include "common/figures.h"

enum { TOP_LINES = 5, TOP_LINE_SIZE = 256, TOP_COUNT_SIZE = 24 };

/* The pool as a whole; the last line may be empty. */
void top_summary(const struct figures *figures, char lines[TOP_LINES][TOP_LINE_SIZE]);
/* At most six cells: 99999, 1234k, 56M. Gives text back. */
const char *top_count(int64_t count, char text[TOP_COUNT_SIZE]);
/* Of a count of lately, for each second. */
double top_rate(int64_t count);
/* How long until nothing is due at the rates of lately; -1: it does not come to that. */
int64_t top_empty_ms(const struct handler_figures *handler);
/* Until that is so of each handler that is not paused. */
int64_t top_all_empty_ms(const struct figures *figures);

#endif
