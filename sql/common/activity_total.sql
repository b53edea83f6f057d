-- What was done from one time to another, in buckets of time, all workers and handlers together.
SELECT bucket, NULL AS handler, NULL AS worker, SUM(done) AS done, SUM(failed) AS failed, SUM(gave_up) AS gave_up, SUM(skipped) AS skipped, SUM(released) AS
       released, SUM(lost) AS lost, SUM(wait_sum) AS wait_sum, MAX(wait_max) AS wait_max, SUM(wait_0) AS wait_0,
       SUM(wait_1) AS wait_1, SUM(wait_2) AS wait_2, SUM(wait_3) AS wait_3, SUM(wait_4) AS wait_4, SUM(wait_5) AS
       wait_5, SUM(wait_6) AS wait_6, SUM(wait_7) AS wait_7, SUM(wait_8) AS wait_8, SUM(wait_9) AS wait_9,
       SUM(run_sum) AS run_sum, MAX(run_max) AS run_max, SUM(run_0) AS run_0, SUM(run_1) AS run_1, SUM(run_2) AS
       run_2, SUM(run_3) AS run_3, SUM(run_4) AS run_4, SUM(run_5) AS run_5, SUM(run_6) AS run_6, SUM(run_7) AS
       run_7, SUM(run_8) AS run_8, SUM(run_9) AS run_9
FROM (SELECT {bucket} AS bucket, tp_activity.* FROM tp_activity
      WHERE minute >= :since AND minute < :before AND {given handler}) activity
GROUP BY bucket ORDER BY bucket
