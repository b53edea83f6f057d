-- Tasks that waited for the end of a group are due: at the time that was wanted, now at the earliest.
UPDATE tp_pending
SET gate = NULL, due_at = CASE WHEN wanted_at > {now} THEN wanted_at ELSE {now} END,
    modified_at = CASE WHEN {now} > modified_at THEN {now} ELSE modified_at + 1 END
WHERE {among_ids id} AND gate = :gate AND due_at = 253402300799999
