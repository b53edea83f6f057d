/* Text in the cells of a terminal, where a Chinese character takes two, and how wide the columns of a table
 * may be there. Pure functions. Must not know records. */
#ifndef COMMON_CELLS_H
#define COMMON_CELLS_H

#include <stdbool.h>
#include <stddef.h>

#define CELLS_BETWEEN 2 /* columns */

int cells_width(const char *text);
/* text, of which no more than so many cells are shown: what is cut ends with an ellipsis. The caller frees
 * it; NULL: out of memory. */
char *cells_cut(const char *text, int cells);

/* How wide a time may be: 2025-11-21T10:44:05.123Z or with +01:00, 2025-11-21 10:44:05, 11-21 10:44:05,
 * 11-21 10:44. */
enum { CELLS_TIME_SECONDS = 19, CELLS_TIME_DAY = 14, CELLS_TIME_MINUTE = 11 };
/* Shortens such a text in place to so many cells at most, as far as these widths allow. */
void cells_cut_time(char *text, int cells);

struct cells_column {
    int width;    /* in: what all of it takes; out: what it gets */
    int least;    /* what it must have */
    int spare;    /* above 0: may be left out, the highest first */
    bool is_time; /* has only the widths above */
    bool left_out;
};
/* Makes the columns fit into so many cells: leaves out what can be spared, as long as the others do not get
 * what they must have, then takes from the widest. When that is not enough, each has its least. */
void cells_fit(struct cells_column *columns, size_t count, int room);

#endif
