-- These tasks were ended, or get another deadline.
DELETE FROM tp_cancel WHERE {among_ids task_id}
