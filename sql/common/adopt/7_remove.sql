DROP TABLE tp_adopted_[name];
