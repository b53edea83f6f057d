-- Reads due tasks without a lock: for plan cas, which then takes each by a change of its own, and for plan hold where the database has one
-- writer and the transaction keeps others out. A lane is the tasks of one handler, priority and, where asked for, shard. Of each lane only
-- the first tasks are found in the index, and only as many as the limit allows are read whole.
SELECT task.id, task.handler, task.biz_key,
       {params_if_short task.params},
       task.reason, {mostly_pending task.state}, {mostly_0 task.shard}, {mostly_0 task.priority}, {mostly_0 task.failures},
       task.max_failures, task.created_at, {mostly_created task.due_at},
       {result {now}} AS now_ms, {mostly_created task.modified_at}, task.owner
FROM (
{lanes_first_n}
  {rows {lane_first_n}SELECT id, due_at FROM tp_pending {by_lane}
                 WHERE {lane} AND due_at <= {now}
                 ORDER BY due_at, id {lane_first_n_end}}
{lanes_first_n_end}
) found {found_tasks}
ORDER BY task.priority, task.due_at, task.id
