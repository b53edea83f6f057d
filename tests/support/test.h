/* What test programs share besides check.h: TEST(test_something__does_this) { ... } is a whole test, and
 * TASKPOOL_TEST_FILTER=*outage* runs only some of them. */
#ifndef TESTS_SUPPORT_TEST_H
#define TESTS_SUPPORT_TEST_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/callbacks.h"
#include "support/check.h"

/* A test that is one call: where tests differ in data only they stand as a table. */
#define TEST_AS(name, call)                                                                                  \
    TEST(name) {                                                                                             \
        call;                                                                                                \
    }

/* What a program's tests have in common; NULL means none, or any. */
struct test_group {
    const char *name;                                        /* the program's when NULL */
    const char *file;                                        /* only tests of files whose names begin so */
    int (*set_up)(void **state), (*tear_down)(void **state); /* around each test */
    int (*set_up_all)(void **state), (*tear_down_all)(void **state);
};
/* Gives the number of tests that failed; a program without tests fails. A program that has no main of its own
 * runs all its tests. */
int test_run(const struct test_group *group);

/* Calls fn in so many threads at once, each with the next step bytes from args on, and waits for them. */
void test_in_threads(int threads, void *(*fn)(void *), void *args, size_t step);

/* The items of an array, as many on a line as there is room for. */
#define LIST(...)                                                                                            \
    { __VA_ARGS__ }
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

struct tpi_buf;
/* Its text is this; frees it. */
#define expect_buf(buf, text) check_buf((buf), (text), __FILE__, __LINE__)
void check_buf(struct tpi_buf *buf, const char *text, const char *file, int line);

#endif
