-- Requests that nobody decided in time.
SELECT id FROM tp_request WHERE state = 'waiting' AND expires_at <= {now} ORDER BY id
