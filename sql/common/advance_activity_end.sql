-- See advance_activity.
UPDATE tp_activity SET minute = -minute WHERE minute < 0
