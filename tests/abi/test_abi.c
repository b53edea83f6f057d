/* A program that was built against the first header that is kept, with the library of today. */
#include "abi/program.h"
#include "support/check.h"
#include "support/pool.h"
#include "support/tasks.h"

#define TEST_FRESH(name) TEST_BETWEEN(name, pool_fresh, NULL)

TEST_FRESH(test_abi__a_program_of_the_first_header_puts_claims_and_settles) {
    assert_int_equal(program_tasks(pool.dsn, pool.handler), 0);
    expect_number(rows_in("pending", pool.handler), 2);
    expect_number(rows_in("finished", pool.handler), 2);
    expect_number(rows_in("failed", pool.handler), 1);
    assert_int_equal(program_operates(pool.dsn, pool.handler), 0);
    expect_number(rows_in("pending", pool.handler), 3);
}

TEST_FRESH(test_abi__a_program_of_the_first_header_has_schedules) {
    assert_int_equal(program_schedules(pool.dsn, pool.handler), 0);
}

TEST_FRESH(test_abi__a_program_of_the_first_header_has_a_worker) {
    assert_int_equal(program_works(pool.dsn, pool.handler), 0);
    expect_number(rows_in("finished", pool.handler), 1);
}

int main(void) {
    return pool_test_main("abi");
}
