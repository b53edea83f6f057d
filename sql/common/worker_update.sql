-- A heartbeat: the worker is running or stopping, or has ended.
UPDATE tp_worker SET plan = :plan, threads = :threads, state = :state, running = :running, claimed = :claimed,
       done = :done, failed = :failed, seen_at = :at
WHERE id = :id
