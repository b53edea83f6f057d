-- How many rows of a bucket were not rolled up, and how many sums they make.
SELECT COUNT(*) AS sums, COALESCE(SUM(minutes), 0) AS minutes
FROM (SELECT COUNT(*) AS minutes FROM tp_activity
      WHERE minute >= :since AND minute < :before AND minute <> {rolled_up} GROUP BY worker, handler) one_each
