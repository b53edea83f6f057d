-- taskpool schema, version 1, for Oracle Database 11.2 and later: the functions, which hold all that is said in Oracle's own
-- time and identifier functions. To be run before 0001_pools.sql. taskpool schema install leaves functions alone that are
-- there and answer.

-- Milliseconds since 1970-01-01 UTC, by the database's clock.
CREATE FUNCTION tp_now RETURN NUMBER IS
  t TIMESTAMP(6) := SYS_EXTRACT_UTC(SYSTIMESTAMP);
BEGIN
  RETURN ROUND((TO_DATE(TO_CHAR(t, 'YYYYMMDDHH24MISS'), 'YYYYMMDDHH24MISS') - DATE '1970-01-01') * 86400) * 1000
         + TO_NUMBER(TO_CHAR(t, 'FF3'));
END;
/

-- Such a time as people read it, UTC.
CREATE FUNCTION tp_utc(ms IN NUMBER) RETURN VARCHAR2 IS
BEGIN
  RETURN TO_CHAR(TIMESTAMP '1970-01-01 00:00:00' + NUMTODSINTERVAL(ms / 1000, 'SECOND'), 'YYYY-MM-DD HH24:MI:SS.FF3');
END;
/

-- A new id for rows that come without one.
CREATE FUNCTION tp_new_id RETURN VARCHAR2 IS
BEGIN
  RETURN LOWER(REGEXP_REPLACE(RAWTOHEX(SYS_GUID()), '(.{8})(.{4})(.{4})(.{4})(.{12})', '\1-\2-\3-\4-\5'));
END;
/
