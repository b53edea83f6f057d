-- What was done from one time to another, in buckets of time, each worker by itself.
SELECT bucket, handler, worker, {activity_sums}
FROM (SELECT {bucket} AS bucket, tp_activity.* FROM tp_activity
      WHERE minute >= :since AND minute < :before AND {given handler}) activity
GROUP BY bucket, handler, worker ORDER BY bucket, handler, worker
