-- In the transaction that skipped them.
UPDATE tp_adopt_[name] SET link_result = 'skipped', link_closed = link_task
WHERE link_stage = 'back' AND link_result = 'failed' AND link_task IN ([tasks]);
