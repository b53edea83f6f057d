-- Locks those of the given tasks of the {pool} pool that are as they were when the request was written: the row count tells. Writes what is there.
UPDATE tp_{pool} SET modified_at = modified_at
WHERE id IN (:ids) AND EXISTS (
  SELECT 1 FROM tp_request_row kept
  WHERE kept.request_id = :id AND kept.pool = '{pool}' AND kept.row_key = {id_text tp_{pool}.id}
    AND kept.state = tp_{pool}.state AND kept.state <> 'handling' AND kept.modified_at = tp_{pool}.modified_at)
