-- Deletes what a task put into the ledger, by the index of age: between its begin and its end.
DELETE FROM tp_once WHERE created_at >= :since AND created_at <= :until AND task_id = :id
