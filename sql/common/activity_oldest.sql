-- The oldest minute that is kept.
SELECT MIN(minute) FROM tp_activity
