-- Pauses or resumes, unless it is so already.
UPDATE tp_schedule SET paused = :paused, next_at = :next_at, fire_at = :fire_at, rule_at = :rule_at, calendar_version = :version,
       modified_at = :modified_at
WHERE name = :name AND created_at = :created_at AND paused <> :paused
