-- Writes down what one person asked for and another is to approve.
INSERT INTO tp_request (id, act, state, pool, selection, tasks, asked_by, why, created_at, expires_at,
                        fields, params, biz_key, dedup_key, priority, due_at, max_failures, retried)
VALUES (:id, :event, 'waiting', :pool, :value, :done, :who, :reason, {value_now}, {value_now_plus delay},
        :fields, :params, :biz_key, :dedup_key, :priority, :due_at, :max_failures, :retried)
