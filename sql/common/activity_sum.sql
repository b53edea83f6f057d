-- What was done from one time to another, in buckets of time, all workers together.
SELECT bucket, handler, NULL AS worker, {activity_sums}
FROM (SELECT {bucket} AS bucket, tp_activity.* FROM tp_activity
      WHERE minute >= :since AND minute < :before AND {given handler}) activity
GROUP BY bucket, handler ORDER BY bucket, handler
