-- What was done from one time to another, in buckets of time, all workers and handlers together.
SELECT bucket, NULL AS handler, NULL AS worker, {activity_sums}
FROM (SELECT {bucket} AS bucket, tp_activity.* FROM tp_activity
      WHERE minute >= :since AND minute < :before AND {given handler}) activity
GROUP BY bucket ORDER BY bucket
