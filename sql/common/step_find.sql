-- The step of this name of the task that the token holds: absent columns where it was not done. No row: the token holds no task.
SELECT done.created_at AS done_at, done.result AS result FROM tp_pending task
LEFT JOIN tp_step done ON done.task_id = task.id AND done.step = :step AND done.task_created_at = task.created_at
WHERE task.id = :id AND task.state = 'handling' AND {not_by_index task.owner = :token}
