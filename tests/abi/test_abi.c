/* A program that was built against the first header that is kept, with the library of today. */
#include "abi/program.h"
#include "support/check.h"
#include "support/pool.h"
#include "support/tasks.h"

static void test_abi__a_program_of_the_first_header_puts_claims_and_settles(void **state) {
    (void)state;
    assert_int_equal(program_tasks(pool.dsn, pool.handler), 0);
    expect_number(rows_in("pending", pool.handler), 2);
    expect_number(rows_in("finished", pool.handler), 2);
    expect_number(rows_in("failed", pool.handler), 1);
    assert_int_equal(program_operates(pool.dsn, pool.handler), 0);
    expect_number(rows_in("pending", pool.handler), 3);
}

static void test_abi__a_program_of_the_first_header_has_schedules(void **state) {
    (void)state;
    assert_int_equal(program_schedules(pool.dsn, pool.handler), 0);
}

static void test_abi__a_program_of_the_first_header_has_a_worker(void **state) {
    (void)state;
    assert_int_equal(program_works(pool.dsn, pool.handler), 0);
    expect_number(rows_in("finished", pool.handler), 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_abi__a_program_of_the_first_header_puts_claims_and_settles, pool_fresh),
        cmocka_unit_test_setup(test_abi__a_program_of_the_first_header_has_schedules, pool_fresh),
        cmocka_unit_test_setup(test_abi__a_program_of_the_first_header_has_a_worker, pool_fresh),
    };
    pool_open();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    pool_close();
    return failed != 0;
}
