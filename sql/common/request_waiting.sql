-- How many requests wait for a second person, and since when the oldest does.
SELECT COUNT(*) AS requests, CAST(MIN(created_at) AS DECIMAL(19)) AS oldest FROM tp_request WHERE state = 'waiting' AND expires_at > {now}
