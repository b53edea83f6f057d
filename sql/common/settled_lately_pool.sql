-- How many tasks of the {pool} pool were settled lately, a part of the index of age; and how many of these have an id that was made lately.
SELECT handler, state, COUNT(*) AS settled, SUM(CASE WHEN id > :after_id AND id <= :last_id THEN 1 ELSE 0 END) AS enqueued
FROM tp_{pool} WHERE settled_at > :settled_since GROUP BY handler, state
