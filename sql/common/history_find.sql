-- What the event with this id is about.
SELECT task_id, reason FROM tp_history WHERE id = :history_id
