-- Events to be deleted, the oldest first. Those with an alert that is not delivered yet stay.
{first_n}
SELECT id FROM tp_history
WHERE {given_or_null handler} AND created_at >= :since AND created_at <= :before AND {no_alert}
ORDER BY created_at
{first_n_end}
