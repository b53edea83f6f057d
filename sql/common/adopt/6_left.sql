-- Removal: what is still in the pool, or has not been given back, and what of it is in no pool. There must be none before the links
-- are dropped.
SELECT COUNT(*),
       (SELECT COUNT(*) FROM tp_adopt[closed]_[name] lost WHERE lost.link_stage = 'pool'
          AND NOT EXISTS (SELECT 1 FROM tp_pending task WHERE task.id = lost.link_task)
          AND NOT EXISTS (SELECT 1 FROM tp_finished task WHERE task.id = lost.link_task)
          AND NOT EXISTS (SELECT 1 FROM tp_failed task WHERE task.id = lost.link_task))
FROM tp_adopt[closed]_[name] WHERE link_stage <> 'back';
