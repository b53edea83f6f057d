-- The selected rows of the chain behind :seq, in their order.
{first_n}
SELECT seq, act, created_at, who, action, subject, detail, changed, ids_hash, request_id, reason, prev_hash, row_hash
FROM tp_audit
WHERE seq > :seq AND created_at >= :since AND created_at <= :until AND {given_or_null who} AND {given action}
  AND {given_or_null subject}
ORDER BY seq
{first_n_end}
