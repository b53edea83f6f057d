-- Tasks that are not wanted any more, in the order in which they became so, with their state; absent: they are not open.
{first_n}
SELECT asked.task_id, asked.due_at, asked.who, asked.reason,
       (SELECT task.state FROM tp_pending task WHERE task.id = asked.task_id AND task.created_at <= asked.created_at) AS state
FROM tp_cancel asked
WHERE asked.due_at <= {now} AND asked.due_at >= :since AND (asked.due_at > :since OR asked.task_id > :after_id)
ORDER BY asked.due_at, asked.task_id
{first_n_end}
