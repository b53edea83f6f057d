-- The same of the gates that a pattern made. Version 8 wrote no pattern into those of order keys: they are known by their names.
-- Each that waits for a token is looked at anew.
UPDATE tp_gate SET width = :width, on_failure = :on_failure, tokens = :tokens, period_ms = :period_ms,
       token_at = CASE WHEN token_at IS NOT NULL THEN {now_number} END, next_place = next_place + 1, modified_at = {now}
WHERE pattern = :name OR (pattern IS NULL AND :name = '=' AND name LIKE '=_%')
