-- How many a gate lets through at a time, what it does after a failure, and the next place.
SELECT width, on_failure, next_place FROM tp_gate WHERE name = :name
