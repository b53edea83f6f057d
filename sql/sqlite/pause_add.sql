-- Differs because the database's clock is read in the statement itself.
INSERT INTO tp_pause (handler, who, reason, created_at) VALUES (:handler, :who, :reason, CAST(ROUND((julianday('now') - 2440587.5) * 86400000) AS INTEGER))
