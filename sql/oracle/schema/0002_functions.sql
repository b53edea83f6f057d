-- taskpool schema, version 2, for Oracle Database 11.2 and later: the functions of version 1, made anew. To be run after
-- version 1 and before 0002_services.sql. taskpool schema install leaves functions alone that are there and answer.

-- Milliseconds since 1970-01-01 UTC, by the database's clock.
CREATE OR REPLACE FUNCTION tp_now RETURN NUMBER IS
  t TIMESTAMP(6) := SYS_EXTRACT_UTC(SYSTIMESTAMP);
BEGIN
  RETURN ROUND((TO_DATE(TO_CHAR(t, 'YYYYMMDDHH24MISS'), 'YYYYMMDDHH24MISS') - DATE '1970-01-01') * 86400) * 1000
         + TO_NUMBER(TO_CHAR(t, 'FF3'));
END;
/

-- Such a time as people read it, UTC; where the calendar has no such time, the number.
CREATE OR REPLACE FUNCTION tp_utc(ms IN NUMBER) RETURN VARCHAR2 IS
BEGIN
  RETURN TO_CHAR(TIMESTAMP '1970-01-01 00:00:00' + NUMTODSINTERVAL(ms / 1000, 'SECOND'), 'YYYY-MM-DD HH24:MI:SS.FF3');
EXCEPTION
  WHEN OTHERS THEN
    RETURN TO_CHAR(ms);
END;
/

-- A new id for rows that come without one. No braces: ODBC drivers look for escapes in them.
CREATE OR REPLACE FUNCTION tp_new_id RETURN VARCHAR2 IS
  h VARCHAR2(32) := LOWER(RAWTOHEX(SYS_GUID()));
BEGIN
  RETURN SUBSTR(h, 1, 8) || '-' || SUBSTR(h, 9, 4) || '-' || SUBSTR(h, 13, 4) || '-' || SUBSTR(h, 17, 4) || '-' || SUBSTR(h, 21);
END;
/
