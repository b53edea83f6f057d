-- Tasks that were just put in, as group_join.
INSERT INTO tp_group_task (group_name, waits, task_id)
SELECT door.name, CAST(:waits AS DECIMAL(5, 0)), task.id FROM tp_pending task, tp_group door WHERE {among_ids task.id} AND door.name = :name
