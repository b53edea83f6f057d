-- The way back where nobody but the pool takes rows, in one transaction at READ COMMITTED: rows whose tasks have ended are deleted,
-- those of failed tasks after they were put into the history, if there is one.

UPDATE tp_adopt_[name] SET link_stage = 'settled', link_result = 'done'
WHERE link_stage = 'pool' AND EXISTS (SELECT 1 FROM tp_finished task WHERE task.id = link_task AND task.state = 'done');
UPDATE tp_adopt_[name] SET link_stage = 'settled', link_result = 'skipped'
WHERE link_stage = 'pool' AND EXISTS (SELECT 1 FROM tp_finished task WHERE task.id = link_task AND task.state = 'skipped');
UPDATE tp_adopt_[name] SET link_stage = 'settled', link_result = 'failed'
WHERE link_stage = 'pool' AND EXISTS (SELECT 1 FROM tp_failed task WHERE task.id = link_task);
-- A failed task that an operator retried: its row is gone already.
UPDATE tp_adopt_[name] SET link_result = 'done'
WHERE link_stage = 'back' AND link_result = 'failed' AND EXISTS (SELECT 1 FROM tp_finished task WHERE task.id = link_task AND task.state = 'done');
UPDATE tp_adopt_[name] SET link_result = 'skipped'
WHERE link_stage = 'back' AND link_result = 'failed' AND EXISTS (SELECT 1 FROM tp_finished task WHERE task.id = link_task AND task.state = 'skipped');
-- Where the mapping has no such column, and no history, nothing is changed.
UPDATE [if counted~[table] {adopt_of} SET [counted] = (SELECT task.failures {adopt_failed}) WHERE {adopt_by link_stage = 'settled' AND link_result = 'failed'}][unless counted~tp_adopt_[name] SET link_stage = link_stage WHERE 1 = 0];
UPDATE [if reason~[table] {adopt_of} SET [reason] = (SELECT task.reason {adopt_failed}) WHERE {adopt_by link_stage = 'settled' AND link_result = 'failed'}][unless reason~tp_adopt_[name] SET link_stage = link_stage WHERE 1 = 0];
[if history~INSERT INTO [history] ([columns])
SELECT [columns] FROM [table] WHERE ([keys ,~@]) IN (SELECT [keys ,~key_#] FROM tp_adopt_[name] WHERE link_stage = 'settled' AND link_result = 'failed')][unless history~UPDATE tp_adopt_[name] SET link_stage = link_stage WHERE 1 = 0];
{adopt_delete link_stage = 'settled' AND link_result <> 'returned'};
UPDATE tp_adopt_[name] SET link_stage = 'back', link_closed = link_task WHERE link_stage = 'settled';
