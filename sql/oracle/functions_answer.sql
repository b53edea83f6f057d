-- Are the functions of the schema there?
SELECT tp_now() AS now_ms, tp_utc(0) AS utc, tp_new_id() AS id FROM DUAL
