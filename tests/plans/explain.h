/* Reads how the database means to run a statement of the library: asked through the library itself, with its
 * text and its parameters, and on PostgreSQL also as planned for any parameters. It must not know which
 * statements may do what. */
#ifndef TESTS_PLANS_EXPLAIN_H
#define TESTS_PLANS_EXPLAIN_H

#include <stdbool.h>

#include "dialect/dialect.h"
#include "store/args.h"

/* What was seen in a plan; the line that shows it, "" when it was not seen. */
enum { SEEN_LINE = 300 };
struct seen {
    char scan[SEEN_LINE];  /* a large table is read from one end to the other */
    char index[SEEN_LINE]; /* ... by an index without a condition */
    char sort[SEEN_LINE];  /* rows are sorted; where the plan tells how many, not a few */
    bool by_shard;         /* the index of shards is read */
    bool by_due;           /* that of due times is */
};

/* After the pool is open. */
void explain_open(void);
/* The text for errors. */
bool explain(enum tpi_statement statement, struct tpi_args *args, struct seen *seen);
/* As PostgreSQL plans it for any parameters. */
bool explain_any(enum tpi_statement statement, const struct tpi_args *args, struct seen *seen);

#endif
