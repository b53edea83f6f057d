-- Removal, in the transaction that took these tasks out of the pool: the way back opens their rows.
UPDATE tp_adopt_[name] SET link_stage = 'settled', link_result = 'returned' WHERE link_stage = 'pool' AND link_task IN ([tasks]);
