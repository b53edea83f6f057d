-- Makes a gate.
INSERT INTO tp_gate (name, width, on_failure, next_place, let_through, tokens, period_ms, pattern, changed_by, created_at, modified_at)
VALUES (:name, :width, :on_failure, 0, 0, :tokens, :period_ms, :pattern, :who, {value_now}, {value_now})
{unless_there}
