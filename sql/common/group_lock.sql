-- Locks a group for a change, at any level of isolation. Its row always changes, so that whoever read it before notices.
UPDATE tp_group SET modified_at = modified_at + 1 WHERE name = :name
