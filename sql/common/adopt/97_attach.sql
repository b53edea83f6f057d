-- Where something is left, or a removal was cut off: the links are found again.
ALTER TABLE tp_adopted_[name] RENAME TO tp_adopt_[name];
