-- Differs because the database's clock is read in the statement itself.
INSERT INTO tp_pause (handler, who, reason, created_at) VALUES (:handler, :who, :reason, CAST(EXTRACT(EPOCH FROM statement_timestamp()) * 1000 AS bigint))
