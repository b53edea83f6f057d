-- Tasks of this handler are not to be claimed.
INSERT INTO tp_pause (handler, who, reason, created_at) VALUES (:handler, :who, :reason, {value_now})
