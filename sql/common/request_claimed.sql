-- Those of the given tasks that a claim has in hand, and had not when the request was written.
SELECT id FROM tp_pending
WHERE id IN (:ids) AND state = 'handling' AND NOT EXISTS (
  SELECT 1 FROM tp_request_row run WHERE run.request_id = :id AND run.pool = 'run' AND run.row_key = {id_text tp_pending.owner})
ORDER BY id
