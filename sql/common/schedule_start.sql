-- Sets the next planned time of a schedule whose last task has ended.
UPDATE tp_schedule SET next_at = :next_at, fire_at = :fire_at, rule_at = :rule_at, calendar_version = :version, modified_at = :modified_at
WHERE name = :name AND paused = 0 AND next_at IS NULL AND fire_at IS NULL AND last_task = :last_task
