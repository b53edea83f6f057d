-- Sets what was never set.
INSERT INTO tp_meta (name, value) VALUES (:name, :value)
