/* Connection strings that differ in a key. Each function fails the test that calls it when it cannot. */
#ifndef TESTS_SUPPORT_DSN_H
#define TESTS_SUPPORT_DSN_H

#include <stddef.h>

/* dsn with one key set to value (taken out when value is NULL). out may be dsn. */
void dsn_with(const char *dsn, const char *key, const char *value, char *out, size_t size);
/* The value of a key, "" when absent. */
void dsn_get(const char *dsn, const char *key, char *out, size_t size);

#endif
