-- The second half of a move by an operator.
DELETE FROM tp_failed WHERE id IN (:ids) AND state = :state
