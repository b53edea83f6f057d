-- Tasks of a group (waits 0), or those that wait for its end (1), in the order of their ids behind :after_id, for people.
{first_n}
SELECT task_id FROM tp_group_task WHERE group_name = :name AND waits = :waits AND task_id > :after_id
ORDER BY task_id
{first_n_end}
