/* A line on standard error that is drawn over while something goes on; nothing when that is no terminal. One
 * thread draws it. */
#ifndef COMMON_PROGRESS_H
#define COMMON_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

/* total_bytes: of the whole input, 0 when it is not known. */
void progress_start(bool wanted, int64_t total_bytes);
void progress_show(int64_t rows, int64_t bytes);
/* Any other line. */
void progress_draw(const char *text);
/* Any thread. Takes the line away, so that something else can be printed; the next one is drawn as ever. */
void progress_hide(void);
void progress_end(void);

#endif
