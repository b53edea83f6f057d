-- The first gates that wait for a token or have got one, and the clock.
{first_n}
SELECT name, token_at, {result {now_number}} AS now_ms FROM tp_gate WHERE token_at IS NOT NULL ORDER BY token_at
{first_n_end}
