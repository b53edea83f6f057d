-- Moves a schedule on to its next planned time: due_at is dealt with. The row count says who does it: with the same planned time as read, of the same
-- schedule as read, whose last task is the one that was looked at: a person may have fired it. One with a calendar has been dealt with up to another time of its rule, too, and its time may be absent.
UPDATE tp_schedule SET next_at = :next_at, fire_at = :fire_at, rule_at = :rule_at, calendar_version = :version, last_at = :last_at,
       last_task = :last_task, modified_at = :modified_at
WHERE name = :name AND created_at = :created_at AND paused = 0 AND COALESCE(fire_at, next_at, 0) = {as_time :due_at}
  AND COALESCE(rule_at, 0) = {as_time :dealt_at}
  AND COALESCE(last_task, '00000000-0000-0000-0000-000000000000') = :last_id
