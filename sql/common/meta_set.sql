-- Changes a setting.
UPDATE tp_meta SET value = :value WHERE name = :name
