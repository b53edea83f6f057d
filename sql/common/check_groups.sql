-- Tasks that wait for a group which does not know them, or has ended: nothing makes them due.
SELECT COUNT(*), MIN(CAST(task.id AS CHAR(36))) FROM tp_pending task
WHERE task.gate LIKE '>%' AND task.due_at = 253402300799999
  AND NOT EXISTS (SELECT 1 FROM tp_group_task waits JOIN tp_group grp ON grp.name = waits.group_name
                  WHERE waits.task_id = task.id AND waits.waits = 1 AND grp.state <> 'over')
