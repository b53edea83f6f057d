-- Is there an open task with this id or this dedup_key?
SELECT id FROM tp_pending WHERE id = :id OR dedup_key = :dedup_key
