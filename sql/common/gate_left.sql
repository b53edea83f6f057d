-- Of these tasks those that have a place and are in no pool in which they keep it.
SELECT left_behind.task_id, left_behind.gate FROM tp_gate_task left_behind {by_primary_key}
WHERE {among_ids left_behind.task_id}
  AND NOT EXISTS (SELECT 1 FROM tp_pending task WHERE task.id = left_behind.task_id)
  AND NOT EXISTS (SELECT 1 FROM tp_failed bad WHERE bad.id = left_behind.task_id)
