-- New content for a task of the {pool} pool that failed and that nobody changed since it was read.
UPDATE tp_{pool}
SET params = :params, biz_key = :biz_key, dedup_key = :dedup_key, priority = :priority, max_failures = :max_failures,
    due_at = :due_at, modified_at = :at
WHERE id = :id AND state = 'failed' AND failures = :failures AND modified_at = :modified_at
