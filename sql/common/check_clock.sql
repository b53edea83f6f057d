-- Open tasks that were created later than it is now. before: a little later than now.
SELECT COUNT(*), MIN(CAST(id AS CHAR(36))) FROM tp_pending
WHERE created_at > :before AND created_at <= 253402300799999
