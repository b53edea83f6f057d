-- Puts a key into the ledger of tp_once.
INSERT INTO tp_once (once_key, handler, task_id, owner, created_at)
VALUES (:once_key, :handler, :id, :token, {value_now})
{unless_there}
