-- Pauses or resumes, unless it is so already.
UPDATE tp_schedule SET paused = :paused, next_at = :next_at, modified_at = :modified_at
WHERE name = :name AND created_at = :created_at AND paused <> :paused
