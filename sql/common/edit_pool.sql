-- New content for a task of the {pool} pool that is in no hand, and that nobody changed since it was read.
UPDATE tp_{pool}
SET params = :params, biz_key = :biz_key, dedup_key = :dedup_key, shard = :shard, priority = :priority, max_failures = :max_failures,
    due_at = :due_at, modified_at = :at
WHERE id = :id AND state = :state AND failures = :failures AND modified_at = :modified_at
