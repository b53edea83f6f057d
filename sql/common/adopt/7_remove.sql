DROP TABLE tp_adopt_[name];
