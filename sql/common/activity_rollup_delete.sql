-- Deletes the rows of a bucket that was rolled up; the row count says whether they are those that were summed.
DELETE FROM tp_activity WHERE minute >= :since AND minute < :before AND minute <> {rolled_up}
