-- Records one event.
INSERT INTO tp_history (id, task_id, handler, event, attempt, owner, who, reason, created_at, alert_at)
VALUES (:history_id, :id, :handler, :event, :attempt, :token, :who, :reason, {value_now},
        {value_now_plus alert})
