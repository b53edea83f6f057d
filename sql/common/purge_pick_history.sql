-- Events to be deleted, the oldest first, none of which an alert is still to be told.
{first_n}
SELECT id FROM tp_history
WHERE {given_or_null handler} AND created_at <= :before AND {no_alert}
ORDER BY created_at
{first_n_end}
