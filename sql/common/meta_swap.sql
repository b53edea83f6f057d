-- Changes a setting of the pool that is as it was read.
UPDATE tp_meta SET value = :value WHERE name = :name AND value = :reason
