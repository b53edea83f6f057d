-- Was the task given other content since it was put in?
SELECT id FROM tp_history WHERE task_id = :id AND event IN ('edited', 'replaced')
