/* Every statement of dialect/statements.h and how it may reach the rows of large tables. test_plans.c fails
 * for one that is not here, so that a new statement is thought about once. */
#ifndef TESTS_PLANS_HOT_H
#define TESTS_PLANS_HOT_H

/* X(statement, way, "reason")
 *   KEY    by the condition of an index, or by its order up to a limit; nothing is sorted
 *   FEW    the same, and what it reads so is few rows, which it may sort; the reason says why they are few
 *   GROUPS from one group of an index to the next; while groups are small some databases read and sort them
 *   PAGE   also by an index without a condition, because it ends at a limit
 *   ALL    by any way; the reason says why that is no harm */
#define HOT_LIST(X)                                                                                          \
    X(meta_version, KEY, "")                                                                                 \
    X(schema_touch, ALL, "its condition is never true: no row is read")                                      \
    X(clock, KEY, "")                                                                                        \
    X(functions_answer, KEY, "")                                                                             \
    X(enqueue, KEY, "")                                                                                      \
    X(enqueue_many, KEY, "")                                                                                 \
    X(enqueue_new, KEY, "")                                                                                  \
    X(enqueue_undo, KEY, "")                                                                                 \
    X(find_any, KEY, "")                                                                                     \
    X(find_content, KEY, "")                                                                                 \
    X(find_moved, KEY, "")                                                                                   \
    X(find_keys, KEY, "")                                                                                    \
    X(find_any_locking, KEY, "")                                                                             \
    X(find_moved_locking, KEY, "")                                                                           \
    X(find_content_locking, KEY, "")                                                                         \
    X(find_keys_locking, KEY, "")                                                                            \
    X(duplicate_find, KEY, "")                                                                               \
    X(duplicate_find_locking, KEY, "")                                                                       \
    X(duplicate_defer, KEY, "")                                                                              \
    X(duplicate_done, KEY, "")                                                                               \
    X(duplicate_done_locking, KEY, "")                                                                       \
    X(history_edits, KEY, "")                                                                                \
    X(find_open, KEY, "")                                                                                    \
    X(claim_lanes, GROUPS, "a lane is a group")                                                              \
    X(claim_pick, FEW, "the first n of each lane")                                                           \
    X(claim_lock, KEY, "")                                                                                   \
    X(claim_mark, KEY, "")                                                                                   \
    X(claim_batch, FEW, "the first n of each lane")                                                          \
    X(claim_skip, FEW, "the first n of each lane")                                                           \
    X(claim_skip_lock, KEY, "")                                                                              \
    X(claim_mark_many, KEY, "")                                                                              \
    X(claim_candidates, FEW, "the first n of each lane")                                                     \
    X(claim_cas, KEY, "")                                                                                    \
    X(claim_read, FEW, "what one claim took")                                                                \
    X(pause_list, FEW, "handlers that are paused")                                                           \
    X(pause_find, KEY, "")                                                                                   \
    X(pause_add, KEY, "")                                                                                    \
    X(pause_remove, KEY, "")                                                                                 \
    X(cancel_add, KEY, "")                                                                                   \
    X(cancel_change, KEY, "")                                                                                \
    X(cancel_asked, KEY, "")                                                                                 \
    X(cancel_among, KEY, "")                                                                                 \
    X(cancel_due, FEW, "rows of the same millisecond")                                                       \
    X(cancel_remove, KEY, "")                                                                                \
    X(cancel_left, KEY, "")                                                                                  \
    X(cancel_forget, KEY, "")                                                                                \
    X(cancel_retract, KEY, "")                                                                               \
    X(deadline_add, KEY, "")                                                                                 \
    X(deadline_find, KEY, "")                                                                                \
    X(history_lapsed, KEY, "")                                                                               \
    X(hold_take, FEW, "the first n of each lane")                                                            \
    X(hold_take_one, FEW, "the first of each lane")                                                          \
    X(hold_lapse, KEY, "")                                                                                   \
    X(hold_params, KEY, "")                                                                                  \
    X(hold_finish, KEY, "")                                                                                  \
    X(hold_finish_many, KEY, "")                                                                             \
    X(hold_delete, KEY, "")                                                                                  \
    X(hold_delete_many, KEY, "")                                                                             \
    X(task_params, KEY, "")                                                                                  \
    X(move_finished, KEY, "")                                                                                \
    X(move_failed, KEY, "")                                                                                  \
    X(move_delete, KEY, "")                                                                                  \
    X(settle_retry, KEY, "")                                                                                 \
    X(settle_release, KEY, "")                                                                               \
    X(settle_extend, KEY, "")                                                                                \
    X(settled, KEY, "")                                                                                      \
    X(move_finished_many, KEY, "")                                                                           \
    X(move_delete_many, KEY, "")                                                                             \
    X(settle_extend_many, KEY, "")                                                                           \
    X(settled_many, KEY, "")                                                                                 \
    X(result_set, KEY, "")                                                                                   \
    X(ended_finished, KEY, "")                                                                               \
    X(ended_failed, KEY, "")                                                                                 \
    X(alert_due, FEW, "events of the same millisecond")                                                      \
    X(alert_take, KEY, "")                                                                                   \
    X(alert_done, KEY, "")                                                                                   \
    X(alert_group_due, FEW, "events of the same millisecond")                                                \
    X(alert_take_many, KEY, "")                                                                              \
    X(alert_done_many, KEY, "")                                                                              \
    X(worker_add, KEY, "")                                                                                   \
    X(worker_update, KEY, "")                                                                                \
    X(worker_silent, KEY, "")                                                                                \
    X(worker_died, KEY, "")                                                                                  \
    X(worker_forget, KEY, "")                                                                                \
    X(worker_list, FEW, "workers heard of since a time")                                                     \
    X(worker_of, FEW, "the workers of one process")                                                          \
    X(worker_drain, KEY, "")                                                                                 \
    X(worker_asked, KEY, "")                                                                                 \
    X(running_list, PAGE, "")                                                                                \
    X(activity_add, KEY, "")                                                                                 \
    X(activity_find, KEY, "")                                                                                \
    X(activity_sum, ALL, "for people: a range of the key, and some databases sort its sums")                 \
    X(activity_total, ALL, "the same")                                                                       \
    X(activity_by_worker, ALL, "the same")                                                                   \
    X(activity_oldest, KEY, "")                                                                              \
    X(activity_purge, KEY, "")                                                                               \
    X(activity_rollup_find, PAGE, "the first one")                                                           \
    X(activity_rollup_count, ALL, "an hour of it; where the table is small MySQL reads its index whole")     \
    X(activity_rollup_add, FEW, "an hour of it")                                                             \
    X(activity_rollup_delete, KEY, "")                                                                       \
    X(history_add, KEY, "")                                                                                  \
    X(history_failed, KEY, "")                                                                               \
    X(history_task, FEW, "what happened to one task")                                                        \
    X(created_each, ALL, "a report over a day; of the settled pools it reads what was settled since")        \
    X(history_last, PAGE | FEW, "events of the same millisecond")                                            \
    X(advance_pending, ALL, "for tests: moves all times")                                                    \
    X(advance_finished, ALL, "for tests: moves all times")                                                   \
    X(advance_failed, ALL, "for tests: moves all times")                                                     \
    X(advance_history, ALL, "for tests: moves all times")                                                    \
    X(advance_once, ALL, "for tests: moves all times")                                                       \
    X(advance_step, ALL, "for tests: moves all times")                                                       \
    X(advance_progress, ALL, "for tests: moves all times")                                                   \
    X(advance_cancel, ALL, "for tests: moves all times")                                                     \
    X(advance_schedule, ALL, "for tests: moves all times")                                                   \
    X(advance_worker, ALL, "for tests: moves all times")                                                     \
    X(advance_activity, ALL, "for tests: moves all times")                                                   \
    X(advance_activity_end, ALL, "for tests: moves all times")                                               \
    X(audit_lock, KEY, "")                                                                                   \
    X(audit_place, KEY, "")                                                                                  \
    X(audit_add, KEY, "")                                                                                    \
    X(audit_last, ALL, "for people: what was done in a span of time")                                        \
    X(audit_chain, ALL, "taskpool check --audit looks at every row")                                         \
    X(audit_next, ALL, "for people: what was done in a span of time")                                        \
    X(audit_try, KEY, "")                                                                                    \
    X(audit_unchained, ALL, "taskpool check --audit looks at every note")                                    \
    X(once_add, KEY, "")                                                                                     \
    X(once_find, KEY, "")                                                                                    \
    X(step_find, KEY, "")                                                                                    \
    X(step_any, KEY, "")                                                                                     \
    X(step_any_locking, KEY, "")                                                                             \
    X(step_add, KEY, "")                                                                                     \
    X(step_tasks, KEY, "")                                                                                   \
    X(step_purge, KEY, "")                                                                                   \
    X(step_list, FEW, "the steps of one task")                                                               \
    X(progress_set, KEY, "")                                                                                 \
    X(progress_add, KEY, "")                                                                                 \
    X(progress_end, KEY, "")                                                                                 \
    X(progress_of, FEW, "the runs of one task")                                                              \
    X(progress_purge, ALL, "an erasure; only what runs now has rows")                                        \
    X(progress_forget, ALL, "only what runs now has rows, and what was killed lately")                       \
    X(once_find_locking, KEY, "")                                                                            \
    X(calendar_add, KEY, "")                                                                                 \
    X(calendar_change, KEY, "")                                                                              \
    X(calendar_remove, KEY, "")                                                                              \
    X(calendar_version, KEY, "")                                                                             \
    X(calendar_used, FEW, "schedules are few")                                                               \
    X(calendar_day_add, KEY, "")                                                                             \
    X(calendar_day_remove, KEY, "")                                                                          \
    X(calendar_list, ALL, "for people: all calendars")                                                       \
    X(calendar_find, ALL, "calendars are few, and their days")                                               \
    X(enqueue_gated, KEY, "")                                                                                \
    X(move_finished_gated, KEY, "")                                                                          \
    X(move_failed_gated, KEY, "")                                                                            \
    X(gate_lock, KEY, "")                                                                                    \
    X(gate_read, KEY, "")                                                                                    \
    X(gate_add, KEY, "")                                                                                     \
    X(gate_change, KEY, "")                                                                                  \
    X(gate_change_made, KEY, "")                                                                             \
    X(gate_patterns, ALL,                                                                                    \
      "at most 65 names, when a gate is made: where gates are few, reading them all costs no more")          \
    X(gate_waiting, KEY, "")                                                                                 \
    X(gate_tokens, ALL, "once a minute, until the first that has some")                                      \
    X(gate_remove, KEY, "")                                                                                  \
    X(gate_count, KEY, "")                                                                                   \
    X(gate_note, KEY, "")                                                                                    \
    X(gate_next, KEY, "")                                                                                    \
    X(gate_next_locking, KEY, "")                                                                            \
    X(gate_forget, KEY, "")                                                                                  \
    X(gate_open, KEY, "")                                                                                    \
    X(gate_pass, KEY, "")                                                                                    \
    X(gate_join, KEY, "")                                                                                    \
    X(gate_leave, KEY, "")                                                                                   \
    X(gate_has, KEY, "")                                                                                     \
    X(gate_of, KEY, "")                                                                                      \
    X(gate_of_each, KEY, "")                                                                                 \
    X(gate_left, KEY, "")                                                                                    \
    X(gate_gone, FEW, "what one gate has let through")                                                       \
    X(gate_lacking, ALL,                                                                                     \
      "maintenance: the gates and what they have let through; neither grows with what waits")                \
    X(gate_list, ALL, "named gates are few")                                                                 \
    X(gate_find, KEY, "")                                                                                    \
    X(group_add, KEY, "")                                                                                    \
    X(group_read, KEY, "")                                                                                   \
    X(group_share, KEY, "")                                                                                  \
    X(group_lock, KEY, "")                                                                                   \
    X(group_try, KEY, "")                                                                                    \
    X(group_close, KEY, "")                                                                                  \
    X(group_cancel, KEY, "")                                                                                 \
    X(group_end, KEY, "")                                                                                    \
    X(group_seen, KEY, "")                                                                                   \
    X(group_join, KEY, "")                                                                                   \
    X(group_join_many, KEY, "")                                                                              \
    X(group_waiting, KEY, "")                                                                                \
    X(group_release, KEY, "")                                                                                \
    X(group_released, KEY, "")                                                                               \
    X(group_first_open, KEY, "")                                                                             \
    X(group_first_pending, KEY, "")                                                                          \
    X(group_any, KEY, "")                                                                                    \
    X(group_due, FEW, "groups that are closed and have not ended")                                           \
    X(group_closed, FEW, "groups that are closed and have not ended")                                        \
    X(group_open_tasks, KEY, "")                                                                             \
    X(group_count, ALL, "asked by people; of a group that is most of a pool it may read that")               \
    X(groups_waiting, ALL, "counts the tasks that wait for groups, for people")                              \
    X(group_list, ALL, "all are listed")                                                                     \
    X(group_find, KEY, "")                                                                                   \
    X(group_old, KEY, "")                                                                                    \
    X(group_tasks, KEY, "")                                                                                  \
    X(group_forget, KEY, "")                                                                                 \
    X(group_remove, KEY, "")                                                                                 \
    X(schedule_add, KEY, "")                                                                                 \
    X(schedule_remove, KEY, "")                                                                              \
    X(schedule_pause, KEY, "")                                                                               \
    X(schedule_list, ALL, "for people: all schedules")                                                       \
    X(schedule_find, KEY, "")                                                                                \
    X(schedule_due, ALL, "schedules are few")                                                                \
    X(schedule_wait, ALL, "schedules are few")                                                               \
    X(schedule_waiting, KEY, "")                                                                             \
    X(schedule_try, KEY, "")                                                                                 \
    X(schedule_start, KEY, "")                                                                               \
    X(schedule_advance, KEY, "")                                                                             \
    X(schedule_fire_one, KEY, "")                                                                            \
    X(stats_pending, ALL, "for people: counts what is open")                                                 \
    X(stats_failed, ALL, "for people: counts what waits for a person")                                       \
    X(stats_finished, ALL, "for people, where history is asked for: counts it")                              \
    X(enqueued_lately, FEW, "what came or went lately")                                                      \
    X(settled_lately_finished, FEW, "what came or went lately")                                              \
    X(settled_lately_failed, FEW, "what came or went lately")                                                \
    X(list_pending, PAGE, "")                                                                                \
    X(list_pending_by_key, FEW, "tasks of one business row")                                                 \
    X(list_finished, PAGE, "")                                                                               \
    X(list_finished_by_key, FEW, "tasks of one business row")                                                \
    X(list_failed, PAGE, "")                                                                                 \
    X(list_failed_by_key, FEW, "tasks of one business row")                                                  \
    X(list_all, PAGE | FEW, "one page of each pool")                                                         \
    X(list_all_by_key, FEW, "tasks of one business row")                                                     \
    X(list_by_change, ALL,                                                                                   \
      "for people: sorts what is open by its last change; settled tasks go by the index of age")             \
    X(list_given, FEW, "as many as were given")                                                              \
    X(range_finished, PAGE, "")                                                                              \
    X(range_finished_by_change, PAGE, "")                                                                    \
    X(show, KEY, "")                                                                                         \
    X(show_key, KEY, "")                                                                                     \
    X(failures_pending, ALL, "for people: open tasks that wait for a retry")                                 \
    X(failures_failed, ALL, "for people: failed tasks, the newest first")                                    \
    X(now, KEY, "")                                                                                          \
    X(operate_pick_pending, PAGE, "")                                                                        \
    X(operate_select_pending, KEY, "")                                                                       \
    X(operate_lock_pending, KEY, "")                                                                         \
    X(operate_touch_pending, KEY, "")                                                                        \
    X(operate_delete_pending, KEY, "")                                                                       \
    X(operate_skip_pending, KEY, "")                                                                         \
    X(operate_pick_failed, ALL, "for people: failed tasks are read by any way")                              \
    X(operate_select_failed, KEY, "")                                                                        \
    X(operate_lock_failed, KEY, "")                                                                          \
    X(operate_touch_failed, KEY, "")                                                                         \
    X(operate_delete_failed, KEY, "")                                                                        \
    X(operate_skip_failed, KEY, "")                                                                          \
    X(operate_reset, KEY, "")                                                                                \
    X(operate_retry_failed, KEY, "")                                                                         \
    X(operate_blocked, ALL,                                                                                  \
      "an operator's; while no open task has a key the index is empty, and is read whole")                   \
    X(operate_note, KEY, "")                                                                                 \
    X(operate_ids_by_key, KEY, "")                                                                           \
    X(select_group_ids, KEY, "")                                                                             \
    X(select_gate_ids, KEY, "")                                                                              \
    X(history_find, KEY, "")                                                                                 \
    X(edit_pending, KEY, "")                                                                                 \
    X(edit_failed, KEY, "")                                                                                  \
    X(erase_count, ALL, "schedules are few")                                                                 \
    X(erase_open, KEY, "")                                                                                   \
    X(erase_ids_finished, KEY, "")                                                                           \
    X(erase_ids_failed, KEY, "")                                                                             \
    X(erase_history, KEY, "")                                                                                \
    X(erase_once, KEY, "")                                                                                   \
    X(erase_once_key, KEY, "")                                                                               \
    X(erase_finished, KEY, "")                                                                               \
    X(erase_failed, KEY, "")                                                                                 \
    X(purge_pick_finished, PAGE, "")                                                                         \
    X(purge_count_finished, ALL, "an operator's rehearsal counts what is selected")                          \
    X(purge_finished, KEY, "")                                                                               \
    X(purge_select_finished, KEY, "")                                                                        \
    X(purge_pick_failed, PAGE, "")                                                                           \
    X(purge_count_failed, ALL, "an operator's rehearsal counts what is selected")                            \
    X(purge_failed, KEY, "")                                                                                 \
    X(purge_select_failed, KEY, "")                                                                          \
    X(retention_pick_failed, PAGE, "")                                                                       \
    X(purge_pick_once, PAGE, "")                                                                             \
    X(purge_count_once, ALL, "an operator's rehearsal counts what is selected")                              \
    X(purge_once, KEY, "")                                                                                   \
    X(purge_pick_history, PAGE, "")                                                                          \
    X(purge_count_history, ALL, "an operator's rehearsal counts what is selected")                           \
    X(purge_history, KEY, "")                                                                                \
    X(request_add, KEY, "")                                                                                  \
    X(request_find, KEY, "")                                                                                 \
    X(request_list, ALL, "for people: requests are few")                                                     \
    X(request_waiting, KEY, "")                                                                              \
    X(request_same, FEW, "few requests wait")                                                                \
    X(request_overdue, FEW | PAGE, "few requests wait; while there are few at all they are read in order")   \
    X(request_run, KEY, "")                                                                                  \
    X(request_end, KEY, "")                                                                                  \
    X(request_rows_pending, KEY, "")                                                                         \
    X(request_rows_finished, KEY, "")                                                                        \
    X(request_rows_failed, KEY, "")                                                                          \
    X(request_rows_once, KEY, "")                                                                            \
    X(request_rows_history, KEY, "")                                                                         \
    X(request_note_runs, ALL, "a request compares what is kept of it with the tasks of a batch")             \
    X(request_keys, KEY, "")                                                                                 \
    X(request_unmarked, KEY, "")                                                                             \
    X(request_hold_pending, ALL, "an approval compares what is kept of a request with the tasks of a batch") \
    X(request_hold_finished, ALL,                                                                            \
      "an approval compares what is kept of a request with the tasks of a batch")                            \
    X(request_hold_failed, ALL, "an approval compares what is kept of a request with the tasks of a batch")  \
    X(request_hold_run, ALL, "an approval compares what is kept of a request with the tasks of a batch")     \
    X(request_claimed, ALL, "an approval that is refused compares them once more")                           \
    X(request_hold_once, ALL, "an approval compares what is kept of a request with the keys of a batch")     \
    X(request_forget, KEY, "")                                                                               \
    X(meta_get, KEY, "")                                                                                     \
    X(meta_set, KEY, "")                                                                                     \
    X(meta_swap, KEY, "")                                                                                    \
    X(meta_add, KEY, "")                                                                                     \
    X(check_two_pools, ALL, "taskpool check looks at every row")                                             \
    X(check_state, ALL, "taskpool check looks at every row")                                                 \
    X(check_owner, ALL, "taskpool check looks at every row")                                                 \
    X(check_failures, ALL, "taskpool check looks at every row")                                              \
    X(check_numbers, ALL, "taskpool check looks at every row")                                               \
    X(check_times, ALL, "taskpool check looks at every row")                                                 \
    X(check_order, ALL, "taskpool check looks at every row")                                                 \
    X(check_ids, ALL, "taskpool check looks at every row")                                                   \
    X(check_handlers, ALL, "taskpool check looks at every row")                                              \
    X(check_gates, ALL, "taskpool check looks at every row")                                                 \
    X(check_groups, ALL, "taskpool check looks at every row")                                                \
    X(check_held_groups, ALL, "taskpool check looks at every row")                                           \
    X(check_open_groups, ALL, "taskpool check looks at every row")                                           \
    X(check_blocked_gates, ALL, "taskpool check looks at every row")                                         \
    X(check_gate_counts, ALL, "taskpool check looks at every row")                                           \
    X(check_schedules, ALL, "taskpool check looks at every row")                                             \
    X(check_schedule_clock, ALL, "taskpool check looks at every row")                                        \
    X(check_overdue, ALL, "taskpool check looks at every row")                                               \
    X(check_schedule_tasks, ALL, "taskpool check looks at every row")                                        \
    X(check_history, ALL, "taskpool check looks at every row")                                               \
    X(check_steps, ALL, "taskpool check looks at every row")                                                 \
    X(check_alerts, ALL, "taskpool check looks at every row")                                                \
    X(check_lapsed, ALL, "taskpool check looks at every row")                                                \
    X(check_waiting, ALL, "taskpool check looks at every row")                                               \
    X(check_clock, ALL, "taskpool check looks at every row")                                                 \
    X(doctor_exists, ALL, "the doctor's own table has one row")                                              \
    X(doctor_ours, ALL, "the doctor's own table has one row")                                                \
    X(doctor_drop, ALL, "the doctor's own table has one row")                                                \
    X(doctor_create, ALL, "the doctor's own table has one row")                                              \
    X(doctor_put, ALL, "the doctor's own table has one row")                                                 \
    X(doctor_read, ALL, "the doctor's own table has one row")                                                \
    X(doctor_take, ALL, "the doctor's own table has one row")                                                \
    X(doctor_same, ALL, "the doctor's own table has one row")                                                \
    X(doctor_lock, ALL, "the doctor's own table has one row")                                                \
    X(doctor_skip, ALL, "the doctor's own table has one row")

#endif
