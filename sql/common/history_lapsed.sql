-- Is this lapse of this claim recorded?
SELECT event FROM tp_history WHERE task_id = :id AND owner = :token AND event = 'lapsed' AND attempt = :attempt
