-- Records what an operator did to each of many tasks, in the transaction that did it; the part in rows is repeated.
INSERT INTO tp_history (id, task_id, handler, event, owner, who, reason, created_at)
{rows SELECT {as_id :history_id} AS id, {as_id :id} AS task_id, :handler AS handler, :event AS event,
       {as_id :token} AS owner, :who AS who, :reason AS reason, {as_time :at} AS created_at
{from_one_row}}
