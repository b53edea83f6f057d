-- Notes for a request which claims have the given tasks in hand.
INSERT INTO tp_request_row (request_id, pool, row_key, modified_at)
SELECT DISTINCT {as_id :id} AS request_id, 'run' AS pool, {id_text owner} AS row_key, 0 AS modified_at FROM tp_pending
WHERE id IN (:ids) AND state = 'handling' AND owner IS NOT NULL AND NOT EXISTS (
  SELECT 1 FROM tp_request_row kept
  WHERE kept.request_id = :id AND kept.pool = 'run' AND kept.row_key = {id_text tp_pending.owner})
