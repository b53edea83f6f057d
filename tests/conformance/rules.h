/* Rules of an application's own on the pool's tables, by which it refuses what is done to a row, and how a
 * test makes and lifts them. */
#ifndef TESTS_CONFORMANCE_RULES_H
#define TESTS_CONFORMANCE_RULES_H

#include "suite.h"

/* In the statements @T is the table, @C a column, @V the value that is refused there, @I the table's key. */
struct rule {
    const char *name;
    bool (*possible)(void);
    bool silent;      /* no error */
    bool seeded;      /* refuses what equals a row that is there */
    bool refuses_all; /* whatever the value */
    const char *make[4], *lift[4];
};

struct rules {
    const struct rule *all;
    size_t count;
};
extern const struct rules rules_on_insert, rules_on_update, rules_on_delete;

/* Empties the table first, but for the row that a unique index compares with. */
void rule_make(const struct rule *rule, const char *table, const char *column, const char *value);
/* Leaves the rows that are there. */
void rule_make_over(const struct rule *rule, const char *table, const char *column, const char *value);
/* The end of the test does it too; of no rule it does nothing. */
void rule_lift(void);
/* fn calls rule_make when all it needs is there, and lifts the rule. */
void rule_for_each(const struct rules *rules, void (*fn)(const struct rule *rule));

/* A test with each of the rules in turn. */
#define TEST_AGAINST(rules, name)                                                                            \
    static void name##_with(const struct rule *rule);                                                        \
    TEST(name) {                                                                                             \
        rule_for_each(&(rules), name##_with);                                                                \
    }                                                                                                        \
    static void name##_with(const struct rule *rule)

/* A failure that asking again does not mend, with words. */
#define expect_refused(call) rule_check_refused((call), #call, __FILE__, __LINE__)
void rule_check_refused(tp_status status, const char *call, const char *file, int line);

/* The same in a transaction. Where an error ends it at once nobody can look there what is in the way, and it
 * is "ask again"; asked outside of it, the answer is the other. */
#define expect_refused_inside(call) rule_check_refused_inside((call), #call, __FILE__, __LINE__)
void rule_check_refused_inside(tp_status status, const char *call, const char *file, int line);

#endif
