-- Tasks that are being handled, those claimed first in front: tokens begin with the time of their claim.
{first_n}
SELECT id, handler, biz_key, owner, failures, wanted_at, due_at,
       COALESCE((SELECT progress.percent FROM tp_progress progress
                 WHERE progress.task_id = tp_pending.id AND progress.owner = tp_pending.owner), -1) AS percent
FROM tp_pending
WHERE owner IS NOT NULL AND state = 'handling' AND {given handler}
ORDER BY owner
{first_n_end}
