-- The row of a worker that starts.
INSERT INTO tp_worker (id, name, host, pid, handlers, plan, threads, state, running, claimed, done, failed, started_at, seen_at, token_tag)
VALUES (:id, :name, :host, :pid, :handler_names, :plan, :threads, :state, :running, :claimed, :done, :failed, :at, :before, :tag)
