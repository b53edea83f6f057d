/* The statements of the library, by the names of their files under sql/. Which of them a dialect must have
 * follows from its capabilities; a dialect that lacks one never runs it. Read next: sql/common, and the file
 * words there. */
#ifndef TPI_DIALECT_STATEMENTS_H
#define TPI_DIALECT_STATEMENTS_H

/* X(name, capabilities of which at least one makes it needed; 0: always) */
#define TPI_STATEMENT_LIST(X)                                                                                \
    X(meta_version, 0)                                                                                       \
    X(schema_touch, 0)                                                                                       \
    X(clock, TPI_CAP_CLIENT_CLOCK)                                                                           \
    X(functions_answer, TPI_CAP_FUNCTIONS)                                                                   \
    X(enqueue, 0)                                                                                            \
    X(enqueue_many, 0)                                                                                       \
    X(enqueue_new, TPI_CAP_ENQUEUE_NEW)                                                                      \
    X(enqueue_undo, 0)                                                                                       \
    X(find_any, 0)                                                                                           \
    X(find_content, 0)                                                                                       \
    X(find_moved, 0)                                                                                         \
    X(find_keys, 0)                                                                                          \
    X(find_open, 0)                                                                                          \
    X(claim_lanes, 0)                                                                                        \
    X(claim_pick, TPI_CAP_ROW | TPI_CAP_SKIP_LOCK | TPI_CAP_BATCH_PICKED)                                    \
    X(claim_lock, TPI_CAP_ROW)                                                                               \
    X(claim_mark, TPI_CAP_ROW)                                                                               \
    X(claim_batch, TPI_CAP_BATCH)                                                                            \
    X(claim_skip, TPI_CAP_SKIP_RETURNING | TPI_CAP_SKIP_UPDATE)                                              \
    X(claim_skip_lock, TPI_CAP_SKIP_LOCK)                                                                    \
    X(claim_mark_many, TPI_CAP_SKIP_LOCK | TPI_CAP_BATCH_PICKED)                                             \
    X(claim_candidates, TPI_CAP_CAS | TPI_CAP_ONE_WRITER)                                                    \
    X(claim_cas, TPI_CAP_CAS)                                                                                \
    X(claim_read, 0)                                                                                         \
    X(pause_list, 0)                                                                                         \
    X(pause_find, 0)                                                                                         \
    X(pause_add, 0)                                                                                          \
    X(pause_remove, 0)                                                                                       \
    X(history_lapsed, 0)                                                                                     \
    X(hold_take, TPI_CAP_HOLD_TAKE)                                                                          \
    X(hold_take_one, TPI_CAP_HOLD_ONE)                                                                       \
    X(hold_lapse, TPI_CAP_HOLD)                                                                              \
    X(hold_params, TPI_CAP_HOLD)                                                                             \
    X(hold_finish, TPI_CAP_HOLD)                                                                             \
    X(hold_finish_many, TPI_CAP_HOLD)                                                                        \
    X(hold_delete, TPI_CAP_MOVE_IN_TWO)                                                                      \
    X(hold_delete_many, TPI_CAP_MOVE_IN_TWO)                                                                 \
    X(task_params, 0)                                                                                        \
    X(move_finished, 0)                                                                                      \
    X(move_failed, 0)                                                                                        \
    X(move_delete, TPI_CAP_MOVE_IN_TWO)                                                                      \
    X(settle_retry, 0)                                                                                       \
    X(settle_release, 0)                                                                                     \
    X(settle_extend, 0)                                                                                      \
    X(settled, 0)                                                                                            \
    X(move_finished_many, 0)                                                                                 \
    X(move_delete_many, TPI_CAP_MOVE_IN_TWO)                                                                 \
    X(settle_extend_many, 0)                                                                                 \
    X(settled_many, 0)                                                                                       \
    X(alert_due, 0)                                                                                          \
    X(alert_take, 0)                                                                                         \
    X(alert_done, 0)                                                                                         \
    X(worker_add, 0)                                                                                         \
    X(worker_update, 0)                                                                                      \
    X(worker_silent, 0)                                                                                      \
    X(worker_died, 0)                                                                                        \
    X(worker_forget, 0)                                                                                      \
    X(worker_list, 0)                                                                                        \
    X(worker_of, 0)                                                                                          \
    X(worker_drain, 0)                                                                                       \
    X(worker_asked, 0)                                                                                       \
    X(running_list, 0)                                                                                       \
    X(activity_add, 0)                                                                                       \
    X(activity_find, 0)                                                                                      \
    X(activity_sum, 0)                                                                                       \
    X(activity_by_worker, 0)                                                                                 \
    X(activity_oldest, 0)                                                                                    \
    X(activity_purge, 0)                                                                                     \
    X(history_add, 0)                                                                                        \
    X(history_failed, 0)                                                                                     \
    X(history_task, 0)                                                                                       \
    X(history_last, 0)                                                                                       \
    X(advance_pending, 0)                                                                                    \
    X(advance_finished, 0)                                                                                   \
    X(advance_failed, 0)                                                                                     \
    X(advance_history, 0)                                                                                    \
    X(advance_once, 0)                                                                                       \
    X(advance_schedule, 0)                                                                                   \
    X(advance_worker, 0)                                                                                     \
    X(advance_activity, 0)                                                                                   \
    X(advance_activity_end, 0)                                                                               \
    X(once_add, 0)                                                                                           \
    X(once_find, 0)                                                                                          \
    X(schedule_add, 0)                                                                                       \
    X(schedule_remove, 0)                                                                                    \
    X(schedule_pause, 0)                                                                                     \
    X(schedule_list, 0)                                                                                      \
    X(schedule_find, 0)                                                                                      \
    X(schedule_due, 0)                                                                                       \
    X(schedule_wait, 0)                                                                                      \
    X(schedule_waiting, 0)                                                                                   \
    X(schedule_start, 0)                                                                                     \
    X(schedule_advance, 0)                                                                                   \
    X(stats_pending, 0)                                                                                      \
    X(stats_failed, 0)                                                                                       \
    X(stats_finished, 0)                                                                                     \
    X(list_pending, 0)                                                                                       \
    X(list_pending_by_key, 0)                                                                                \
    X(list_finished, 0)                                                                                      \
    X(list_finished_by_key, 0)                                                                               \
    X(list_failed, 0)                                                                                        \
    X(list_failed_by_key, 0)                                                                                 \
    X(list_all, 0)                                                                                           \
    X(list_all_by_key, 0)                                                                                    \
    X(list_by_change, 0)                                                                                     \
    X(list_given, 0)                                                                                         \
    X(range_finished, 0)                                                                                     \
    X(range_finished_by_change, 0)                                                                           \
    X(show, 0)                                                                                               \
    X(show_key, 0)                                                                                           \
    X(failures_pending, 0)                                                                                   \
    X(failures_failed, 0)                                                                                    \
    X(now, 0)                                                                                                \
    X(operate_pick_pending, 0)                                                                               \
    X(operate_select_pending, 0)                                                                             \
    X(operate_lock_pending, TPI_CAP_SKIP)                                                                    \
    X(operate_touch_pending, 0)                                                                              \
    X(operate_delete_pending, 0)                                                                             \
    X(operate_skip_pending, 0)                                                                               \
    X(operate_pick_failed, 0)                                                                                \
    X(operate_select_failed, 0)                                                                              \
    X(operate_lock_failed, TPI_CAP_SKIP)                                                                     \
    X(operate_touch_failed, 0)                                                                               \
    X(operate_delete_failed, 0)                                                                              \
    X(operate_skip_failed, 0)                                                                                \
    X(operate_reset, 0)                                                                                      \
    X(operate_retry_failed, 0)                                                                               \
    X(operate_blocked, 0)                                                                                    \
    X(operate_note, 0)                                                                                       \
    X(operate_ids_by_key, 0)                                                                                 \
    X(history_find, 0)                                                                                       \
    X(edit_pending, 0)                                                                                       \
    X(edit_failed, 0)                                                                                        \
    X(erase_count, 0)                                                                                        \
    X(erase_ids_finished, 0)                                                                                 \
    X(erase_ids_failed, 0)                                                                                   \
    X(erase_history, 0)                                                                                      \
    X(erase_once, 0)                                                                                         \
    X(erase_once_key, 0)                                                                                     \
    X(erase_finished, 0)                                                                                     \
    X(erase_failed, 0)                                                                                       \
    X(purge_pick_finished, 0)                                                                                \
    X(purge_count_finished, 0)                                                                               \
    X(purge_finished, 0)                                                                                     \
    X(purge_select_finished, 0)                                                                              \
    X(purge_pick_failed, 0)                                                                                  \
    X(purge_count_failed, 0)                                                                                 \
    X(purge_failed, 0)                                                                                       \
    X(purge_select_failed, 0)                                                                                \
    X(purge_pick_once, 0)                                                                                    \
    X(purge_count_once, 0)                                                                                   \
    X(purge_once, 0)                                                                                         \
    X(purge_pick_history, 0)                                                                                 \
    X(purge_count_history, 0)                                                                                \
    X(purge_history, 0)                                                                                      \
    X(meta_get, 0)                                                                                           \
    X(meta_set, 0)                                                                                           \
    X(meta_add, 0)                                                                                           \
    X(check_two_pools, 0)                                                                                    \
    X(check_state, 0)                                                                                        \
    X(check_owner, 0)                                                                                        \
    X(check_failures, 0)                                                                                     \
    X(check_numbers, 0)                                                                                      \
    X(check_times, 0)                                                                                        \
    X(check_order, 0)                                                                                        \
    X(check_ids, 0)                                                                                          \
    X(check_handlers, 0)                                                                                     \
    X(check_schedules, 0)                                                                                    \
    X(check_overdue, 0)                                                                                      \
    X(check_schedule_tasks, 0)                                                                               \
    X(check_history, 0)                                                                                      \
    X(check_alerts, 0)                                                                                       \
    X(check_lapsed, 0)                                                                                       \
    X(check_waiting, 0)                                                                                      \
    X(check_clock, 0)                                                                                        \
    X(doctor_exists, 0)                                                                                      \
    X(doctor_ours, 0)                                                                                        \
    X(doctor_drop, 0)                                                                                        \
    X(doctor_create, 0)                                                                                      \
    X(doctor_put, 0)                                                                                         \
    X(doctor_read, 0)                                                                                        \
    X(doctor_take, 0)                                                                                        \
    X(doctor_same, 0)                                                                                        \
    X(doctor_lock, TPI_CAP_ROW)                                                                              \
    X(doctor_skip, TPI_CAP_SKIP)

enum tpi_statement {
#define TPI_STATEMENT_ENUM(name, caps) TPI_S_##name,
    TPI_STATEMENT_LIST(TPI_STATEMENT_ENUM)
#undef TPI_STATEMENT_ENUM
        TPI_STATEMENT_COUNT
};

#endif
