-- Which task was changed by the enqueue of this id, and how?
SELECT task_id, reason FROM tp_history WHERE id = :history_id
