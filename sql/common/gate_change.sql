-- Changes a gate, which is from then on one that people made.
UPDATE tp_gate SET width = :width, on_failure = :on_failure, tokens = :tokens, period_ms = :period_ms, pattern = NULL, changed_by = :who,
       next_place = next_place + 1, modified_at = {now}
WHERE name = :name
