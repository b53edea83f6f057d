-- Tasks that were just put in, as group_join.
INSERT INTO tp_group_task (group_name, waits, task_id)
SELECT grp.name, CAST(:waits AS DECIMAL(5, 0)), task.id FROM tp_pending task, tp_group grp WHERE {among_ids task.id} AND grp.name = :name
