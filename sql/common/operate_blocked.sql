-- Which of the given tasks of the failed pool have a dedup_key that an open task has.
SELECT bad.id FROM tp_failed bad
WHERE bad.id IN (:ids) AND EXISTS (SELECT 1 FROM tp_pending task WHERE task.dedup_key = bad.dedup_key)
