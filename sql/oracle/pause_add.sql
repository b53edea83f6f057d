-- Differs because the database's clock is read in the statement itself, by the function tp_now.
INSERT INTO tp_pause (handler, who, reason, created_at) VALUES (:handler, :who, :reason, tp_now())
