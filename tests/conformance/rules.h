/* Rules of an application's own on the pool's tables: constraints, indexes, columns, triggers that refuse a
 * row, with an error or without a word. It must not know what is tried against them. */
#ifndef TESTS_CONFORMANCE_RULES_H
#define TESTS_CONFORMANCE_RULES_H

#include <stdbool.h>

/* In the statements @T is the table, @C a column, @V the value that is refused there. */
struct rule {
    const char *name;
    bool (*possible)(void);        /* NULL: everywhere */
    bool silent;                   /* no error */
    bool seeded;                   /* refuses what equals a row that is there */
    bool refuses_all;              /* whatever the value */
    const char *make[4], *lift[4]; /* fewer end with NULL */
};

/* Calls fn with each rule that is possible here, for rows that come in or that are changed; fn makes the rule
 * when all that it needs is there. It is lifted afterwards. */
void rule_each_insert(void (*fn)(const struct rule *rule));
void rule_each_update(void (*fn)(const struct rule *rule));

/* Empties the table, and makes the rule. */
void rule_make(const struct rule *rule, const char *table, const char *column, const char *value);
/* Leaves the rows that are there. */
void rule_make_over(const struct rule *rule, const char *table, const char *column, const char *value);
/* The one that is made; NULL: none. */
const struct rule *rule_made(void);
/* Also a test's teardown. */
int rule_lift(void **state);

#endif
