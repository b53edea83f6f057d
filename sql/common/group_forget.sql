-- Rows of a group that has ended go.
DELETE FROM tp_group_task WHERE group_name = :name AND waits IN (0, 1, 2) AND {among_ids task_id}
