-- No task comes into the group any more.
UPDATE tp_group SET state = 'closed', closed_at = {now} WHERE name = :name AND state = 'open'
