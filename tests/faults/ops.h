/* The groups of operations, one file each: ops_NAME.c. */
#ifndef TESTS_FAULTS_OPS_H
#define TESTS_FAULTS_OPS_H

#include "faults/points.h"

struct group {
    const char *name;
    const struct CMUnitTest *tests;
    size_t count;
};

/* X(group) */
#define GROUP_LIST(X)                                                                                        \
    X(enqueue)                                                                                               \
    X(settle)                                                                                                \
    X(claim)                                                                                                 \
    X(hold)                                                                                                  \
    X(tx)                                                                                                    \
    X(look)                                                                                                  \
    X(borrow)                                                                                                \
    X(operators)                                                                                             \
    X(schedules)                                                                                             \
    X(schema)                                                                                                \
    X(workers)

#define GROUP_DECLARE(name) extern const struct group name##_group;
GROUP_LIST(GROUP_DECLARE)
#undef GROUP_DECLARE

/* Ends a file. */
#define FAULTS_GROUP(name, ...)                                                                              \
    static const struct CMUnitTest name##_tests[] = {__VA_ARGS__};                                           \
    const struct group name##_group = {#name, name##_tests, sizeof name##_tests / sizeof name##_tests[0]}

#endif
