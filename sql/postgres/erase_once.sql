-- Overrides: a list that is an array is searched one by one for each row of the time; this one is hashed.
DELETE FROM tp_once WHERE created_at >= :since AND created_at <= :until
  AND task_id IN (SELECT CAST(value AS uuid) FROM json_array_elements_text(CAST(:ids_document AS json)) AS list (value))
