-- Takes the first n of some lanes in one UPDATE, which holds the database's only write lock.
UPDATE tp_pending SET failures = failures + CASE WHEN state = 'handling' AND failures < 2147483647 THEN 1 ELSE 0 END,
       reason = {lapsed_reason},
       state = 'handling', owner = :token,
       wanted_at = due_at,
       due_at = {now_plus lease},
       modified_at = {now}
WHERE rowid IN (SELECT row FROM (
               {rows SELECT * FROM (SELECT rowid AS row, id, due_at FROM tp_pending
                              WHERE {lane} AND due_at <= {now}
                              ORDER BY due_at, id {first_n_end}) AS lane}
             ) AS due ORDER BY due_at, id {first_n_end})
