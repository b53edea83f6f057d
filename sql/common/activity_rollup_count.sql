-- How many rows of a bucket were not rolled up.
SELECT COUNT(*) FROM tp_activity WHERE minute >= :since AND minute < :before AND minute <> {rolled_up}
