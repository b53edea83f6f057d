-- Failed tasks whose rows were opened again: they are skipped before the row becomes a new task, so that no operator retries them too.
SELECT link_task FROM tp_adopt_[name]
WHERE link_stage = 'back' AND link_result = 'failed'[unless alone~ AND link_closed <> link_task]
  AND EXISTS (SELECT 1 FROM [table] src WHERE [keys AND~src.@ = key_#] AND [open])
  AND EXISTS (SELECT 1 FROM tp_failed task WHERE task.id = link_task);
