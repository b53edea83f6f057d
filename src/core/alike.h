/* Reasons that differ in digits and ids only are made alike, so that failures can be counted by their kind.
 * Pure. Read next: ops/failures.c. */
#ifndef TPI_CORE_ALIKE_H
#define TPI_CORE_ALIKE_H

#include <stdbool.h>

#include "taskpool.h"

enum { TPI_ALIKE_SIZE = TP_REASON_MAX + 1, TPI_LIKE_SIZE = 2 * TP_REASON_MAX + 3 };

/* Digits, UUIDs, longer hexadecimal words that have a digit, and what would move a terminal's cursor become a
 * #, several of them one; no text becomes -. What is alike already stays, and so does "exit code 3" or
 * "killed by signal 9" with nothing more. */
void tpi_alike(const char *reason, char out[TPI_ALIKE_SIZE]);
/* Would the reason become this? */
bool tpi_is_alike(const char *reason, const char *alike);
/* A pattern for LIKE ... ESCAPE '!' that each reason fits which becomes this, and some others. */
void tpi_alike_pattern(const char *alike, char out[TPI_LIKE_SIZE]);

#endif
