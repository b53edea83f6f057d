-- Removal: from here on no copy finds the links; what one has put in before is counted once more, and then they are dropped.
ALTER TABLE tp_adopt_[name] RENAME TO tp_adopted_[name];
