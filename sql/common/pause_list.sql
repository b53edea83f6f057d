-- Handlers that are paused; a claim leaves them out.
SELECT handler, who, reason, created_at FROM tp_pause ORDER BY handler
