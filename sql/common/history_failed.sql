-- How did the claim with this token count a failure of the task, if it did?
SELECT event FROM tp_history WHERE task_id = :id AND owner = :token AND event IN ('failed', 'gave-up')
