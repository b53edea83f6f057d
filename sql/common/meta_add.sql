-- Adds a setting of the pool that was never set.
INSERT INTO tp_meta (name, value) VALUES (:name, :value)
