-- The ids of the finished tasks that come next: how far a page reads whose tasks may be rare.
{first_n}
SELECT id, settled_at FROM tp_finished WHERE id > :after_id
ORDER BY id
{first_n_end}
