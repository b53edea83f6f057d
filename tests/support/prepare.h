/* What a pool needs before its schema can be installed, by the program that TASKPOOL_TEST_PREPARE names.
 * Where MariaDB stands in for Oracle, it makes Oracle's functions. */
#ifndef TESTS_SUPPORT_PREPARE_H
#define TESTS_SUPPORT_PREPARE_H

#include <stdbool.h>

/* Is there such a program? The database has then functions that are not the schema's. */
bool prepared(void);
/* Runs it. Ends the program with a message when that fails. */
void prepare_pool(const char *prefix);

#endif
