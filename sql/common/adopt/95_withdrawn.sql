-- In the transaction that skipped these tasks: their rows are theirs no more. One that is put in again, or opened, is a new task.
UPDATE tp_adopt_[name] SET link_stage = 'back', link_result = 'skipped', link_closed = link_task
WHERE (link_stage = 'pool' OR (link_stage = 'back' AND link_result = 'failed')) AND link_task IN ([tasks]);
