-- A task is let through: due at the time that was wanted, now at the earliest. One that is due already stays so.
UPDATE tp_pending
SET due_at = CASE WHEN due_at < 253402300799999 THEN due_at WHEN wanted_at > {now} THEN wanted_at ELSE {now} END,
    modified_at = CASE WHEN {now} > modified_at THEN {now} ELSE modified_at + 1 END
WHERE id = :id AND gate = :name
