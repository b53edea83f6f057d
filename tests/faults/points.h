/* Runs all points of an operation that the options ask for, judges each, and counts them. It must not know
 * what an operation does. In the short form one point in N (EVERY unless said) is tried, and of expensive
 * operations one in EXPENSIVE * N; the first of them hangs on the operation's name, the plan and the way, so
 * that different points are tried from one to the next, and there is one in each of them. With turns it is
 * one in each of some of the ways; in which, hangs on the database, too. Of pairs (the next try fails too)
 * the short form tries one for each such point, in one of PAIRED ways. --every thins the long form too: of
 * pairs, their first points. Read next: run.h. */
#ifndef TESTS_FAULTS_POINTS_H
#define TESTS_FAULTS_POINTS_H

#include "faults/run.h"

enum { EVERY = 60, EXPENSIVE = 16, PAIRED = 4 };

struct points_options {
    bool all; /* the long form: every point, of expensive operations too, and sessions are killed before every
                 call, not only before those that go over the wire */
    bool pairs; /* the try after the failure fails too: with all, at every call in every way, else at one */
    int every;  /* N: one point in so many */
    int turns;  /* N: of an operation under one plan one way in so many, others of the next */
    bool ways[WAYS]; /* those to try */
};
extern struct points_options points_options;

/* The points of one operation at which an allocation fails; those at which calls fail: operation.h. */
void points_of_allocations(const struct operation *operation);
/* The table of the points tried, by operation and way. */
void points_print(void);
/* After each test: says where it was when a failed check ended it. */
int points_end_test(void **state);

#endif
