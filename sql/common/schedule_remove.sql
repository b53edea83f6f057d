-- Tasks that it made stay.
DELETE FROM tp_schedule WHERE name = :name
