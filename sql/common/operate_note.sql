-- What an operator did to each of many tasks, in the transaction that did it; the part between the marks is repeated.
-- tp_meta's one row stands in for a table of one row.
INSERT INTO tp_history (id, task_id, handler, event, owner, who, reason, created_at)
/*rows*/
SELECT CAST(:history_id AS CHAR(36)) AS id, CAST(:id AS CHAR(36)) AS task_id, :handler AS handler, :event AS event,
       CAST(:token AS CHAR(36)) AS owner, :who AS who, :reason AS reason, CAST(:at AS DECIMAL(19, 0)) AS created_at
FROM tp_meta WHERE name = 'schema'
/*end*/
