-- The group has ended. One whose waiting tasks are not all due yet is opening first.
UPDATE tp_group SET state = :to_state, ended_at = COALESCE(ended_at, {now}) WHERE name = :name AND state = :state
