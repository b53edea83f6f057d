-- The group is closed, if it is open, and ends however its tasks end. cancelled 1: what waits for it is skipped; 2: its end is waited for
-- whatever it is.
UPDATE tp_group SET cancelled = CASE WHEN cancelled > 0 THEN cancelled WHEN rule = 'done' THEN 1 ELSE 2 END, rule = 'ended',
       state = 'closed', closed_at = COALESCE(closed_at, {now})
WHERE name = :name AND state IN ('open', 'closed')
