-- Is there an open task with this id?
SELECT id FROM tp_pending WHERE id = :id
