-- How many tasks of the {pool} pool have an id that was made lately: a part of the primary key.
SELECT handler, 'enqueued' AS event, COUNT(*) AS tasks FROM tp_{pool} WHERE id > :after_id AND id <= :last_id
GROUP BY handler
