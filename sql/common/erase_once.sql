-- Deletes what tasks put into the ledger, by the index of age: between the begin of the first and the end of the last.
DELETE FROM tp_once WHERE created_at >= :since AND created_at <= :until AND {among_ids task_id}
