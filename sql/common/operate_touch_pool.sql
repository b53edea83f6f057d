-- Locks the given tasks by a write, where nothing else locks. A claim that compares modified_at sees it. The column may hold any number.
UPDATE tp_{pool} SET modified_at = CASE WHEN modified_at < 9000000000000000000 THEN modified_at + 1 ELSE modified_at - 1 END
WHERE id IN (:ids) AND state = :state
