-- How far the run of this claim is.
UPDATE tp_progress SET percent = :percent, message = :message, modified_at = {now}
WHERE task_id = :id AND owner = :token
