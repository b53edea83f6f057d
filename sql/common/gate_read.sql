-- How many a gate lets through at a time, what it does after a failure, the next place, and how many it has let through.
SELECT width, on_failure, next_place, let_through FROM tp_gate WHERE name = :name
