/* Statements of sql/ for a program that knows no taskpool: read from the files that the build writes, for one
 * prefix, with a ? for each value. Which database runs them is the caller's business. */
#ifndef TOOLS_BENCH_STATEMENT_H
#define TOOLS_BENCH_STATEMENT_H

#include <stddef.h>

enum { STATEMENT_NAMES = 16, STATEMENT_NAME_SIZE = 32 };

/* names: what the places stand for, in their order; a list is named once and has as many places as it was
 * given. */
struct statement {
    char *text;
    char names[STATEMENT_NAMES][STATEMENT_NAME_SIZE];
    size_t count;
};

/* sql/DIALECT/NAME.sql of the build folder; a list of texts gets list places. Ends the program when
 * it cannot be had. */
void statement_read(struct statement *statement, const char *dialect, const char *name, const char *prefix,
                    size_t list);
int statement_is_list(const char *name);
void statement_free(struct statement *statement);

#endif
