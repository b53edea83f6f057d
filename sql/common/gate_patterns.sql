-- Those of these gates that are there.
SELECT name, width, on_failure, tokens, period_ms FROM tp_gate WHERE name IN (:ids)
