-- A task of a group, or one that waits for its end.
INSERT INTO tp_group_task (group_name, waits, task_id) VALUES (:name, :waits, :id)
