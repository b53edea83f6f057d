-- Locks the given tasks by a write, where nothing else locks. A claim that compares modified_at sees it.
UPDATE tp_{pool} SET modified_at = modified_at + 1 WHERE id IN (:ids) AND state = :state
