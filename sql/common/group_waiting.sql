-- Tasks that wait for the end of a group.
{first_n}
SELECT task_id FROM tp_group_task WHERE group_name = :name AND waits = 1 ORDER BY task_id
{first_n_end}
