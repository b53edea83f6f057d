-- Tasks that are being handled, those claimed first in front: tokens begin with the time of their claim.
{first_n}
SELECT id, handler, biz_key, owner, failures, wanted_at, due_at
FROM tp_pending
WHERE owner IS NOT NULL AND state = 'handling' AND {given handler}
ORDER BY owner
{first_n_end}
