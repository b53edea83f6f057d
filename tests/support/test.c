/* The list of tests of a program, and how they are run. See test.h. */
#include "support/test.h"

#include <errno.h>
#include <pthread.h>

#include "base/buf.h"

enum { TESTS = 100, THREADS = 16 };

static struct {
    struct CMUnitTest test;
    const char *file; /* without its folder */
} enrolled[TESTS];
static size_t count;

void test_add(struct CMUnitTest test, const char *file) {
    if (count == TESTS) abort();
    enrolled[count].test = test;
    enrolled[count++].file = strrchr(file, '/') ? strrchr(file, '/') + 1 : file;
}

int test_run(const struct test_group *group) {
    struct CMUnitTest tests[TESTS];
    size_t chosen = 0;
    const char *filter = getenv("TASKPOOL_TEST_FILTER");
    if (filter) cmocka_set_test_filter(filter);
    for (size_t i = 0; i < count; i++) {
        if (group->file && strncmp(enrolled[i].file, group->file, strlen(group->file)) != 0) continue;
        struct CMUnitTest *test = &tests[chosen++];
        *test = enrolled[i].test;
        if (!test->setup_func) test->setup_func = group->set_up;
        if (!test->teardown_func) test->teardown_func = group->tear_down;
    }
    if (!chosen) return 1;
    return _cmocka_run_group_tests(group->name ? group->name : program_invocation_short_name, tests, chosen,
                                   group->set_up_all, group->tear_down_all);
}

int test_main(const char *program, CMFixtureFunction before, CMFixtureFunction after) {
    return test_run(&(struct test_group){.name = program, .set_up_all = before, .tear_down_all = after}) != 0;
}

void test_in_threads(int threads, void *(*fn)(void *), void *args, size_t step) {
    pthread_t running[THREADS];
    assert_in_range(threads, 1, THREADS);
    for (int i = 0; i < threads; i++)
        assert_int_equal(pthread_create(&running[i], NULL, fn, (char *)args + (size_t)i * step), 0);
    for (int i = 0; i < threads; i++)
        pthread_join(running[i], NULL);
}

void check_buf(struct tpi_buf *buf, const char *text, const char *file, int line) {
    _assert_string_equal(tpi_buf_str(buf), text, file, line);
    tpi_buf_free(buf);
}
