-- Tasks of rows that were deleted: they are withdrawn, as an operator's skip, where no worker has begun them.
SELECT link_task FROM tp_adopt_[name]
WHERE link_stage = 'pool' AND NOT EXISTS (SELECT 1 FROM [table] src WHERE [keys AND~src.@ = key_#])
  AND EXISTS (SELECT 1 FROM tp_pending task WHERE task.id = link_task AND task.state <> 'handling');
