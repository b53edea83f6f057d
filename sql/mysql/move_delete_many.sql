-- Differs because the rows are found by the primary key: a scan would wait for the locks of others.
DELETE task FROM tp_pending AS task {by_primary_key}
WHERE task.id IN (:ids) AND task.state = 'handling' AND task.owner = :token
