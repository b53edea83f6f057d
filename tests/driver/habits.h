/* What the driver may take on, by words of its connection string: Habits=cursors:50,no_bigint. A word without
 * a number counts as 1. */
#ifndef TESTS_DRIVER_HABITS_H
#define TESTS_DRIVER_HABITS_H

#include <stdbool.h>
#include <stddef.h>

#include "functions.h"

struct dbc;
struct stmt;
struct object;

#define HABIT_LIST(X)

/* Fault=FUNCTION:n:STATE:native: the n-th call of the function on the connection fails so; with :done behind
 * it, though it is made. */
struct fault {
    char function[32], state[6];
    long n, native, seen;
    bool done;
};

enum { FAULTS_MAX = 4 };

struct habits {
#define HABIT(name) long name;
    HABIT_LIST(HABIT)
#undef HABIT
    char named[64]; /* what SQL_DRIVER_NAME is to be; "": the real driver's */
    struct fault faults[FAULTS_MAX];
    size_t fault_count;
};

/* False: a word that there is not, which is then in *wrong. Both change list. */
bool habits_read(struct habits *habits, char *list, const char **wrong);
bool habits_read_faults(struct habits *habits, char *list, const char **wrong);

/* Called when a statement's handle is freed. */
void habits_free(struct stmt *stmt);

#endif
