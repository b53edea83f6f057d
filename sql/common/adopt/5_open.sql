-- Removal: tasks that no worker has begun are returned to the old table.
SELECT link_task FROM tp_adopt_[name]
WHERE link_stage = 'pool' AND EXISTS (SELECT 1 FROM tp_pending task WHERE task.id = link_task AND task.state <> 'handling');
