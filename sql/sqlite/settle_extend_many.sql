-- Differs because the database's clock is read in the statement itself, and the ids come as one JSON document.
UPDATE tp_pending
SET due_at = CASE WHEN {now_plus lease} > due_at
                  THEN {now_plus lease}
                  ELSE due_at + 1 END,
    modified_at = {now}
WHERE id IN (SELECT value FROM json_each(:ids_document)) AND state = 'handling' AND owner = :token
