-- The same in the order of the time at which they were settled.
{first_n}
SELECT id, settled_at FROM tp_finished
WHERE settled_at >= :since AND settled_at <= :until AND (settled_at > :after_at OR id > :after_id)
ORDER BY settled_at
{first_n_end}
