-- The second half of a move by an operator.
DELETE FROM tp_pending WHERE id IN (:ids) AND state = :state
