-- Adds the next month to tp_finished: the one after the last there is, or this month. Run it once a month, some months
-- ahead: a month whose rows are in tp_finished_others already is refused. For another prefix replace tp_ throughout.
DO $$
DECLARE
  last text := (SELECT MAX(substr(c.relname, length('tp_finished_') + 1)) FROM pg_inherits AS i JOIN pg_class AS c ON c.oid = i.inhrelid
                WHERE i.inhparent = 'tp_finished'::regclass AND c.relname ~ '_2[0-9]{5}$');
  month timestamp := GREATEST(to_date(last, 'YYYYMM') + interval '1 month', date_trunc('month', now() AT TIME ZONE 'UTC'));
BEGIN
  EXECUTE format('CREATE TABLE tp_finished_%s PARTITION OF tp_finished FOR VALUES FROM (%s) TO (%s)', to_char(month, 'YYYYMM'),
                 CAST(EXTRACT(EPOCH FROM month) * 1000 AS bigint), CAST(EXTRACT(EPOCH FROM month + interval '1 month') * 1000 AS bigint));
END $$;
