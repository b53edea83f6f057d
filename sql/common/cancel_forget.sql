-- A person wants these tasks again, or has ended them.
DELETE FROM tp_cancel WHERE {among_ids task_id}
