/* Between the two files of design E. */
#ifndef TESTS_ORIGINS_LOAD_BALANCE_H
#define TESTS_ORIGINS_LOAD_BALANCE_H

#include "taskpool.h"

/* Due tasks, two for each biz_key, with numbers chosen by the library. */
void put_spread(const char *handler, size_t count, tp_spread spread, int shards);

/* The tests of load_balance_server.c. */
#define SERVER_TEST_LIST(X)                                                                                  \
    X(test_server__fifty_threads_and_a_full_queue_and_the_caller_runs)                                       \
    X(test_server__with_abort_the_rest_stays_in_the_database)                                                \
    X(test_server__takes_its_handlers_and_numbers_only)                                                      \
    X(test_server__a_new_handler_needs_no_restart_of_others)                                                 \
    X(test_server__a_slow_task_is_not_dispatched_again)                                                      \
    X(test_server__scans_at_a_fixed_rate_however_long_they_take)                                             \
    X(test_server__scans_a_fixed_delay_after_the_last_has_ended)                                             \
    X(test_server__begins_after_its_initial_delay)
#define SERVER_TEST_DECLARE(name) void name(void **state);
SERVER_TEST_LIST(SERVER_TEST_DECLARE)
#undef SERVER_TEST_DECLARE

#endif
