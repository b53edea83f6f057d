-- A worker is still there, running or stopping, or says that it has ended.
UPDATE tp_worker SET plan = :plan, threads = :threads, state = :state, running = :running, claimed = :claimed,
       done = :done, failed = :failed, seen_at = :at
WHERE id = :id
