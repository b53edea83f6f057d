-- Tasks that failed, and whose rows are the pool's no more: somebody opened them again, and perhaps an old consumer did them since. They are
-- skipped, so that no operator retries them too; likewise those that were retried already, where no worker has begun them.
SELECT link_task FROM tp_adopt_[name]
WHERE link_stage = 'back' AND link_result = 'failed'[unless alone~ AND link_closed <> link_task]
  AND EXISTS (SELECT 1 FROM [table] src
              WHERE [keys AND~src.@ = key_#] AND [if alone~[open]][unless alone~CASE WHEN {adopt_ours} THEN 1 ELSE 0 END = 0])
  AND (EXISTS (SELECT 1 FROM tp_failed task WHERE task.id = link_task)
       [unless alone~OR EXISTS (SELECT 1 FROM tp_pending task WHERE task.id = link_task AND task.state <> 'handling')]);
