-- The second half of a move by an operator.
DELETE FROM tp_{pool} WHERE id IN (:ids) AND state = :state
