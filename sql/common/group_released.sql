-- They wait no more.
UPDATE tp_group_task {by_primary_key} SET waits = 2 WHERE group_name = :name AND waits = 1 AND {among_ids task_id}
