-- The way back, in one transaction, at READ COMMITTED: results of settled tasks are written into their rows.

-- Tasks that have ended since, those that failed and were then retried by an operator among them.
UPDATE tp_adopt_[name] SET link_stage = 'settled', link_result = 'done'
WHERE (link_stage = 'pool' OR (link_stage = 'back' AND link_result = 'failed' AND link_closed <> link_task))
  AND EXISTS (SELECT 1 FROM tp_finished task WHERE task.id = link_task AND task.state = 'done');
UPDATE tp_adopt_[name] SET link_stage = 'settled', link_result = 'skipped'
WHERE (link_stage = 'pool' OR (link_stage = 'back' AND link_result = 'failed' AND link_closed <> link_task))
  AND EXISTS (SELECT 1 FROM tp_finished task WHERE task.id = link_task AND task.state = 'skipped');
UPDATE tp_adopt_[name] SET link_stage = 'settled', link_result = 'failed'
WHERE link_stage = 'pool' AND EXISTS (SELECT 1 FROM tp_failed task WHERE task.id = link_task);
-- A failed task that an operator retries is in the pool again, and its row is taken again: one that is as the pool left it, or open.
UPDATE tp_adopt_[name] SET link_stage = 'retried', link_result = 'none'
WHERE link_stage = 'back' AND link_result = 'failed' AND link_closed <> link_task
  AND EXISTS (SELECT 1 FROM tp_pending task WHERE task.id = link_task)
  AND NOT EXISTS (SELECT 1 FROM [table] src WHERE [keys AND~src.@ = key_#] AND CASE WHEN {adopt_ours} OR [open] THEN 1 ELSE 0 END = 0);
UPDATE [table] {adopt_of} SET [mark] = [taken] WHERE (({adopt_ours}) OR ([open])) AND {adopt_by link_stage = 'retried'};
-- Not one that an old consumer has taken at this moment.
UPDATE tp_adopt_[name] SET link_stage = 'back', link_result = 'failed'
WHERE link_stage = 'retried'
  AND EXISTS (SELECT 1 FROM [table] src WHERE [keys AND~src.@ = key_#] AND CASE WHEN {adopt_ours} THEN 1 ELSE 0 END = 0);
UPDATE tp_adopt_[name] SET link_stage = 'pool' WHERE link_stage = 'retried';
-- Only rows that still have our mark: what somebody has written over it stays. But a row that was opened again while its task was in the
-- pool, or was retried by an operator, is done.
UPDATE [table] {adopt_of} SET [state] = [done]
WHERE (({adopt_ours}) OR ([open])) AND {adopt_by link_stage = 'settled' AND link_result = 'done'};
UPDATE [table] {adopt_of} SET [state] = [skipped] WHERE {adopt_ours} AND {adopt_by link_stage = 'settled' AND link_result = 'skipped'};
UPDATE [table] {adopt_of} SET [state] = [failed] WHERE {adopt_ours} AND {adopt_by link_stage = 'settled' AND link_result = 'failed'};
UPDATE [table] {adopt_of} SET [if owner~[owner] = NULL][unless owner~[state] = {adopt_was}]
WHERE {adopt_ours} AND {adopt_by link_stage = 'settled' AND link_result = 'returned'};
UPDATE tp_adopt_[name] SET link_stage = 'back', link_closed = link_task WHERE link_stage = 'settled' AND link_result <> 'failed';
UPDATE tp_adopt_[name] SET link_stage = 'back' WHERE link_stage = 'settled';
