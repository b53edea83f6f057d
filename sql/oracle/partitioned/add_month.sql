-- Adds the next month to tp_finished: the one after the last there is, or this month. Run it once a month, some months
-- ahead, so that no row has to be moved. For another prefix replace tp_ and TP_ throughout.
DECLARE
  last_month VARCHAR2(30);
  month_begin DATE := TRUNC(CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE), 'MM');
  bound NUMBER;
BEGIN
  SELECT MAX(SUBSTR(partition_name, 2)) INTO last_month FROM user_tab_partitions
  WHERE table_name = 'TP_FINISHED' AND partition_name LIKE 'P2_____';
  IF last_month IS NOT NULL THEN
    month_begin := GREATEST(month_begin, ADD_MONTHS(TO_DATE(last_month, 'YYYYMM'), 1));
  END IF;
  bound := ROUND(ADD_MONTHS(month_begin, 1) - DATE '1970-01-01') * 86400000;
  EXECUTE IMMEDIATE 'ALTER TABLE tp_finished SPLIT PARTITION later AT (' || TO_CHAR(bound) || ') INTO (PARTITION p' ||
                    TO_CHAR(month_begin, 'YYYYMM') || ', PARTITION later) UPDATE INDEXES';
END;
/
