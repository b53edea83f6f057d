-- Locks those of the given tasks of the {pool} pool that are as they were when the request was written: the row count tells. Writes what is there.
-- While a task is in hand its lease is extended, so of that the state counts; and it is the same run unless something was recorded from then on.
UPDATE tp_{pool} SET modified_at = modified_at
WHERE id IN (:ids) AND EXISTS (
  SELECT 1 FROM tp_request_row kept
  WHERE kept.request_id = :id AND kept.pool = '{pool}' AND kept.row_key = {id_text tp_{pool}.id}
    AND kept.state = tp_{pool}.state AND (kept.modified_at = tp_{pool}.modified_at OR (kept.state = 'handling' AND NOT EXISTS (
      SELECT 1 FROM tp_history later
      WHERE later.task_id = tp_{pool}.id AND later.created_at >= kept.modified_at AND later.event <> 'cancel'))))
