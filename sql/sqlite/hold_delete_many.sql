-- Differs because the ids come as one JSON document: the driver parses a statement each time it runs.
DELETE FROM tp_pending WHERE id IN (SELECT value FROM json_each(:ids_document)) AND state <> 'handling' AND (owner IS NULL OR owner <> :token)
