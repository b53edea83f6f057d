-- The same of those that were made by a pattern, for keys also by a library of version 8, which does not say so; each that waits for a token is looked at anew.
UPDATE tp_gate SET width = :width, on_failure = :on_failure, tokens = :tokens, period_ms = :period_ms,
       token_at = CASE WHEN token_at IS NOT NULL THEN {now_number} END, next_place = next_place + 1, modified_at = {now}
WHERE pattern = :name OR (pattern IS NULL AND :name = '=' AND name LIKE '=_%')
