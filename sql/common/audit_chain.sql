-- All rows of the chain behind :seq, in their order.
{first_n}
SELECT seq, act, created_at, who, action, subject, detail, changed, ids_hash, request_id, reason, prev_hash, row_hash
FROM tp_audit WHERE seq > :seq
ORDER BY seq
{first_n_end}
