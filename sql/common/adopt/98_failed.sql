-- Removal: failed tasks stay with the old table, whose rows say so; nobody retries them here.
SELECT link_task FROM tp_adopt_[name]
WHERE link_stage = 'back' AND link_result = 'failed' AND link_closed <> link_task
  AND EXISTS (SELECT 1 FROM tp_failed task WHERE task.id = link_task);
