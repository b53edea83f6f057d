-- How many tasks of the {pool} pool were settled lately: a part of the index of age.
SELECT handler, state, COUNT(*) AS tasks FROM tp_{pool} WHERE settled_at > :settled_since GROUP BY handler, state
