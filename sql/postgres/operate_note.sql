-- Differs because ids are of type uuid, and a select needs no table.
INSERT INTO tp_history (id, task_id, handler, event, owner, who, reason, created_at)
/*rows*/
SELECT CAST(:history_id AS uuid), CAST(:id AS uuid), :handler, :event, CAST(:token AS uuid), :who, :reason,
       CAST(:at AS bigint)
/*end*/
