-- How far the runs of a task are; the last claim's comes first.
SELECT owner, percent, message, modified_at FROM tp_progress WHERE task_id = :id ORDER BY owner DESC
