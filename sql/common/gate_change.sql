-- Changes a gate, and locks it as gate_lock does.
UPDATE tp_gate SET width = :width, on_failure = :on_failure, changed_by = :who, next_place = next_place + 1, modified_at = {now}
WHERE name = :name
