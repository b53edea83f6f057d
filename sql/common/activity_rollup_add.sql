-- Sums a bucket into one row for each worker and handler. Whoever does it first holds its key: another waits and is refused. What was rolled up is among what is read, so that a second time is refused, too.
INSERT INTO tp_activity (minute, worker, handler,
       done, failed, gave_up, skipped, released, lost, wait_sum, wait_max, wait_0, wait_1, wait_2, wait_3, wait_4,
       wait_5, wait_6, wait_7, wait_8, wait_9, run_sum, run_max, run_0, run_1, run_2, run_3, run_4, run_5, run_6,
       run_7, run_8, run_9)
SELECT MIN({rolled_up}) AS minute, worker, handler, {activity_sums}
FROM tp_activity WHERE minute >= :since AND minute < :before GROUP BY worker, handler
