-- Moves a schedule on to its next planned time: due_at is dealt with. The row count says who does it: with the same planned time as read, of the same
-- schedule as read.
UPDATE tp_schedule SET next_at = :next_at, last_at = :last_at, last_task = :last_task, modified_at = :modified_at
WHERE name = :name AND created_at = :created_at AND paused = 0 AND next_at = :due_at
