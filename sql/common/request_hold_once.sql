-- Locks those of the given keys of the ledger that were put in when the request was written, and not since: the row count tells.
UPDATE tp_once SET created_at = created_at
WHERE once_key IN (:ids) AND EXISTS (
  SELECT 1 FROM tp_request_row kept
  WHERE kept.request_id = :id AND kept.pool = 'once' AND kept.row_key = tp_once.once_key AND kept.modified_at = tp_once.created_at)
