-- Some of a group's rows.
{first_n}
SELECT task_id FROM tp_group_task WHERE group_name = :name ORDER BY waits, task_id
{first_n_end}
