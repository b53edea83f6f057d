-- The second half of a move: the row leaves the pending pool, if the token still holds it.
{prepared}
DELETE FROM tp_pending WHERE id = :id AND state = 'handling' AND owner = :token
{prepared_end}
