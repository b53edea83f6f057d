/* The table that a run prints at its end: points tried, by operation and way. */
#ifndef TESTS_FAULTS_TABLE_H
#define TESTS_FAULTS_TABLE_H

#include "faults/points.h"

/* The counts by way of an operation and plan (may be NULL), zero at first. */
int *table_line(const char *operation, const char *plan);
void table_print(void);

#endif
