-- A request for the same setting by the same person that still waits.
SELECT id FROM tp_request
WHERE state = 'waiting' AND act = :event AND selection = :value AND asked_by = :who AND expires_at > {now}
