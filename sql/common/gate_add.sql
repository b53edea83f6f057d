-- A new gate.
INSERT INTO tp_gate (name, width, on_failure, next_place, let_through, changed_by, created_at, modified_at)
VALUES (:name, :width, :on_failure, 0, 0, :who, {value_now}, {value_now})
{unless_there}
