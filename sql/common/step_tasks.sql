-- Which of these tasks have steps? A row for each step.
SELECT task_id FROM tp_step {by_primary_key} WHERE {among_ids task_id}
