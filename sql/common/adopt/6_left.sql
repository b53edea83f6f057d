-- Removal: what is still in the pool, was retried meanwhile, or has not been given back, and what of it is in no pool. There must be none before the links
-- are dropped.
SELECT (SELECT COUNT(*) FROM tp_adopt[detached]_[name] WHERE link_stage <> 'back'
          OR (link_result = 'failed' AND link_closed <> link_task
              AND EXISTS (SELECT 1 FROM tp_pending task WHERE task.id = link_task))) AS left_over,
       (SELECT COUNT(*) FROM tp_adopt[detached]_[name] lost WHERE lost.link_stage = 'pool'
          AND NOT EXISTS (SELECT 1 FROM tp_pending task WHERE task.id = lost.link_task)
          AND NOT EXISTS (SELECT 1 FROM tp_finished task WHERE task.id = lost.link_task)
          AND NOT EXISTS (SELECT 1 FROM tp_failed task WHERE task.id = lost.link_task)) AS in_no_pool
{from_one};
