-- The first minute of a time that was not rolled up.
{first_n}
SELECT minute FROM tp_activity WHERE minute >= :since AND minute < :before AND minute <> {rolled_up} ORDER BY minute
{first_n_end}
