/* One run of an operation: one call in it fails, or one and then one of the next try; it is asked again until
 * there is an answer, and the tables are judged. It must not know what the operation does, nor which points
 * there are. Read next: inject.h, loop.h. */
#ifndef TESTS_FAULTS_RUN_H
#define TESTS_FAULTS_RUN_H

#include "faults/loop.h"

/* The k-th call that can fail in this way; 0: none. */
struct point {
    enum way way;
    int k;
};

/* How far it came. */
enum run_result { RUN_NOTHING_FAILED, RUN_FIRST_FAILED, RUN_ASKED_AGAIN, RUN_BOTH_FAILED };

extern const char *const way_names[WAYS];

/* The runs that follow are of this operation. */
void run_begin(const struct operation *operation);
/* How much was wrong in them. */
int run_end(void);
/* A failed check has ended the test: says where. */
void run_give_up(void);

/* Nothing fails, and the points are counted. */
void run_count(const char *plan, int points[WAYS]);
/* The calls of second are counted from the try after the first failure on. */
enum run_result run_once(const char *plan, struct point first, struct point second, enum loop loop);

#endif
