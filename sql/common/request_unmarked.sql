-- Answers if a request is about tasks in hand and no claim is noted for it: an older version wrote it.
SELECT kept.row_key FROM tp_request_row kept
WHERE kept.request_id = :id AND kept.pool = 'pending' AND kept.state = 'handling' AND NOT EXISTS (
  SELECT 1 FROM tp_request_row run WHERE run.request_id = :id AND run.pool = 'run')
