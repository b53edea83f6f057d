-- Differs because of its form, in which an index can be named: a scan would lock the rows of other groups.
DELETE gone FROM tp_group_task AS gone {by_primary_key} WHERE group_name = :name AND waits IN (0, 1, 2) AND {among_ids task_id}
