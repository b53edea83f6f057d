/* Between the files of design E. */
#ifndef TESTS_ORIGINS_LOAD_BALANCE_H
#define TESTS_ORIGINS_LOAD_BALANCE_H

#include "taskpool.h"

/* Due tasks, two for each biz_key, with numbers chosen by the library. */
void put_spread(const char *handler, size_t count, tp_sharding spread, int shards);

/* The tests of load_balance_server.c. */
void test_server__fifty_threads_and_a_full_queue_and_the_caller_runs(void **state);
void test_server__with_abort_the_rest_stays_in_the_database(void **state);
void test_server__takes_its_handlers_and_numbers_only(void **state);
void test_server__a_new_handler_needs_no_restart_of_others(void **state);
void test_server__a_slow_task_is_not_dispatched_again(void **state);
void test_server__scans_at_a_fixed_rate_however_long_they_take(void **state);
void test_server__scans_a_fixed_delay_after_the_last_has_ended(void **state);
void test_server__begins_after_its_initial_delay(void **state);
/* Those of load_balance_retries.c. */
void test_tasks__are_tried_again_after_1_5_20_minutes_then_somebody_is_told(void **state);
void test_tasks__an_error_that_no_retry_mends_goes_straight_to_the_failed_pool(void **state);
void test_tasks__no_retry_at_all_is_a_policy(void **state);
void test_tasks__each_handler_may_have_a_rule_of_its_own(void **state);

#endif
