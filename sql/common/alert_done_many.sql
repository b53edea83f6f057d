-- Alerts that were delivered together. Of those that another worker took over meanwhile no row changes.
UPDATE tp_history {by_primary_key} SET alert_at = NULL WHERE {among_ids id} AND alert_at = :before
