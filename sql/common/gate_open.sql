-- A task is let through: due at the time that was wanted, now at the earliest.
UPDATE tp_pending
SET due_at = CASE WHEN wanted_at > {now} THEN wanted_at ELSE {now} END,
    modified_at = CASE WHEN {now} > modified_at THEN {now} ELSE modified_at + 1 END
WHERE id = :id AND gate = :name AND due_at = 253402300799999
