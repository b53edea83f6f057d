-- 1000 tasks a transaction, made in the server: nothing is sent but the statement.
INSERT INTO limit_open (id, handler, params)
SELECT gen_random_uuid(), 'bench', params FROM generate_series(1, 1000), limit_params;
