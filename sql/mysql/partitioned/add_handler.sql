-- Gives the handler pay a partition of its own in tp_pending. Replace pay throughout, and tp_ for another prefix. Copies the
-- tasks that wait under other handlers, and keeps writers out meanwhile. Does nothing on MySQL, where handlers share partitions.
/*M! ALTER TABLE tp_pending REORGANIZE PARTITION others INTO (
  PARTITION pay VALUES IN ('pay'),
  PARTITION others DEFAULT
) */;
