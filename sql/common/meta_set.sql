-- Changes a setting of the pool.
UPDATE tp_meta SET value = :value WHERE name = :name
