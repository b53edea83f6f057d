-- How many tasks of the pending pool have an id that was made lately: a part of the primary key.
SELECT handler, 'enqueued' AS event, 0 AS settled, COUNT(*) AS enqueued FROM tp_pending
WHERE id > :after_id AND id <= :last_id GROUP BY handler
