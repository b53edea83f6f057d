-- One task behind a gate into the pending pool: not due, its time beside it, until the gate lets it through.
{prepared}
INSERT INTO tp_pending (id, handler, biz_key, dedup_key, params, shard, priority, state, failures, max_failures,
                        gate, wanted_at, due_at, created_at, modified_at)
VALUES (:id, :handler, :biz_key, :dedup_key, :params, :shard, :priority, 'pending', 0, :max_failures,
        :gate, {due}, 253402300799999,
        {value_now}, {value_now})
{unless_there}
{prepared_end}
