/* cmocka with what its header wants first, and checks that say what the library said. For the main thread of
 * a test only: a failed check leaves the test by a long jump. */
#ifndef TESTS_SUPPORT_CHECK_H
#define TESTS_SUPPORT_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/clock.h"
#include "taskpool.h"

/* A test of this program, found by itself; they run in the order in which they stand. before and after, which
 * may be NULL, are called with state before and after it. Begins the function. */
#define TEST_BETWEEN(name, before, after)                                                                    \
    static void name(void **state);                                                                          \
    __attribute__((constructor)) static void name##_is_a_test(void) {                                        \
        test_add((struct CMUnitTest){#name, name, before, after, NULL}, __FILE__);                           \
    }                                                                                                        \
    static void name(__attribute__((unused)) void **state)
#define TEST(name) TEST_BETWEEN(name, NULL, NULL)
void test_add(struct CMUnitTest test, const char *file);
/* Runs those that TASKPOOL_TEST_FILTER chooses; before and after may be NULL. Gives the program's exit code.
 */
int test_main(const char *program, CMFixtureFunction before, CMFixtureFunction after);

/* Begins the function that calls of name reach in a program that is linked with --wrap=name; __real_name is
 * the one behind it. */
#define WRAPPED(type, name, ...)                                                                             \
    type __real_##name(__VA_ARGS__);                                                                         \
    type __wrap_##name(__VA_ARGS__);                                                                         \
    type __wrap_##name(__VA_ARGS__)

/* The call must answer exactly this status. */
#define expect(status, call) check_status((status), (call), #call, __FILE__, __LINE__)
#define must(call)           expect(TP_OK, (call))
/* The call must fail in a way that asking again may cure. */
#define expect_may_retry(call) check_may_retry((call), #call, __FILE__, __LINE__)
/* tp_last_error's text must hold the words. */
#define expect_text(words)  check_text((words), __FILE__, __LINE__)
#define expect_number(a, b) check_number((int64_t)(a), (int64_t)(b), #a, __FILE__, __LINE__)
/* What is no check but must hold for the test to make sense. */
#define sure(condition, ...)                                                                                 \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            print_error(__VA_ARGS__);                                                                        \
            print_error("\n");                                                                               \
            _fail(__FILE__, __LINE__);                                                                       \
        }                                                                                                    \
    } while (0)

/* For loops that wait until something is so: the end of what hangs, minutes from now. */
int64_t deadline_ms(void);
#define expect_before(deadline) sure(tpi_clock_mono_ms() < (deadline), "it does not come")

void check_status(tp_status expected, tp_status got, const char *call, const char *file, int line);
void check_may_retry(tp_status got, const char *call, const char *file, int line);
void check_text(const char *words, const char *file, int line);
/* got against wanted, both printed. */
void check_number(int64_t got, int64_t wanted, const char *what, const char *file, int line);

#endif
