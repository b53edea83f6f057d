-- How far the run of this claim is.
UPDATE tp_progress SET percent = :percent, message = :message, modified_at = {value_now}
WHERE task_id = :id AND owner = :token
