-- Locks the given tasks where nothing but a write locks; a claim that compares modified_at then sees it.
UPDATE tp_{pool} SET modified_at = modified_at + 1 WHERE id IN (:ids) AND state = :state
