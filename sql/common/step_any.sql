-- Has the task of this id steps that are done?
SELECT task_id FROM tp_step WHERE task_id = :id
