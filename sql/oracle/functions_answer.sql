-- Are the functions of the schema there, as they are by now? A time that nobody can read must not be an error.
SELECT tp_now() AS now_ms, tp_utc(0) AS utc, tp_utc(9223372036854775807) AS never, tp_new_id() AS id FROM DUAL
