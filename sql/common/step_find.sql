-- The step of this name of the task that the token holds: absent columns where it was not done. No row: the token holds no task.
SELECT (SELECT done.created_at FROM tp_step done
        WHERE done.task_id = task.id AND done.step = :step AND done.task_created_at = task.created_at) AS done_at,
       (SELECT done.result FROM tp_step done
        WHERE done.task_id = task.id AND done.step = :step AND done.task_created_at = task.created_at) AS result
FROM tp_pending task
WHERE task.id = :id AND task.state = 'handling' AND {not_by_index task.owner = :token}
