-- The same of tasks that were in hand: the same claim has them still, however often it has extended its lease; or it has ended without an end
-- of the task, and nothing has been recorded since that another claim, or a person, did with it.
UPDATE tp_pending SET modified_at = modified_at
WHERE id IN (:ids)
  AND (owner IS NULL OR EXISTS (
    SELECT 1 FROM tp_request_row run WHERE run.request_id = :id AND run.pool = 'run' AND run.row_key = {id_text tp_pending.owner}))
  AND EXISTS (
    SELECT 1 FROM tp_request_row kept
    WHERE kept.request_id = :id AND kept.pool = 'pending' AND kept.row_key = {id_text tp_pending.id} AND kept.state = 'handling'
      AND (tp_pending.state = 'handling' OR NOT EXISTS (
        SELECT 1 FROM tp_history later
        WHERE later.task_id = tp_pending.id AND later.created_at >= kept.modified_at AND later.event <> 'cancel' AND NOT EXISTS (
          SELECT 1 FROM tp_request_row run
          WHERE run.request_id = :id AND run.pool = 'run' AND run.row_key = {id_text later.owner}))))
