-- Events of the history by people, since :since and before :until, that no row of the chain tells of: how many, and whose.
SELECT COUNT(*), MIN(note.who) FROM tp_history note
WHERE note.created_at >= :since AND note.created_at < :until
  AND note.event IN ('retried', 'skipped', 'released', 'purged', 'paused', 'resumed', 'kept', 'edited', 'erased', 'drained', 'eyes', 'asked', 'approved', 'refused', 'stale', 'recalled')
  AND NOT EXISTS (SELECT 1 FROM tp_audit done WHERE done.created_at = note.created_at AND COALESCE(done.who, ' ') = COALESCE(note.who, ' '))
