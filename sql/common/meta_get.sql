-- A setting of the pool.
SELECT value FROM tp_meta WHERE name = :name
