-- The recheck under the lock: the transaction began IMMEDIATE, so it is the only writer.
SELECT state FROM tp_doctor WHERE id = :id
