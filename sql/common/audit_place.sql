-- The last place in the chain that was taken, and the hash of the row before it.
SELECT head.seq, previous.row_hash
FROM tp_audit_head head LEFT JOIN tp_audit previous ON previous.seq = head.seq - 1
WHERE head.id = 1
