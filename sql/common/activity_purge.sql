-- Deletes the activity of one minute.
DELETE FROM tp_activity WHERE minute = :at
