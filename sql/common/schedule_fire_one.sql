-- A person fires a schedule: its task is the last now, and what is planned stays. The row count says that no other has fired it since it was read.
UPDATE tp_schedule SET last_task = :last_task, modified_at = :modified_at
WHERE name = :name AND created_at = :created_at AND COALESCE(last_task, '00000000-0000-0000-0000-000000000000') = :last_id
