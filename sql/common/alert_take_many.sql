-- Takes many alerts over for a while, to deliver them together: those that are due still.
UPDATE tp_history {by_primary_key} SET alert_at = :at WHERE {among_ids id} AND alert_at <= :before
