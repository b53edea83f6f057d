-- Of the tasks before this one none is open.
UPDATE tp_group SET seen_id = :last_id WHERE name = :name
