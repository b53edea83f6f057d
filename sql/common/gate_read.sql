-- What a gate is like, and the clock.
SELECT width, on_failure, next_place, let_through, tokens, period_ms, held, token_at, pattern, {result {now_number}} AS now_ms
FROM tp_gate WHERE name = :name
