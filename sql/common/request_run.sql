-- Takes a request to carry it out in this transaction: of several who approve it at once one finds it waiting.
UPDATE tp_request SET state = 'running', decided_by = :who, decision = :reason, decided_at = {now}
WHERE id = :id AND state = 'waiting' AND expires_at > {now}
