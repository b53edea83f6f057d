-- Differs because the database's clock is read in the statement itself.
INSERT INTO tp_pause (handler, who, reason, created_at) VALUES (:handler, :who, :reason, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000)
