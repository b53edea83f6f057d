-- One task into the pending pool.
{prepared}
INSERT INTO tp_pending (id, handler, biz_key, dedup_key, params, shard, priority, state, failures, max_failures,
                        due_at, created_at, modified_at)
VALUES (:id, :handler, :biz_key, :dedup_key, :params, :shard, :priority, 'pending', 0, :max_failures,
        {due},
        {value_now}, {value_now})
{unless_there}
{prepared_end}
