-- Names every table of the pool, so that a missing one is found. Reads no row. tp_audit_head stands for tp_audit, which operators only
-- may read.
SELECT 1 AS there FROM tp_pending WHERE 1 = 0
UNION ALL SELECT 1 AS there FROM tp_finished WHERE 1 = 0
UNION ALL SELECT 1 AS there FROM tp_failed WHERE 1 = 0
UNION ALL SELECT 1 AS there FROM tp_history WHERE 1 = 0
UNION ALL SELECT 1 AS there FROM tp_once WHERE 1 = 0
UNION ALL SELECT 1 AS there FROM tp_schedule WHERE 1 = 0
UNION ALL SELECT 1 AS there FROM tp_calendar WHERE 1 = 0
UNION ALL SELECT 1 AS there FROM tp_calendar_day WHERE 1 = 0
UNION ALL SELECT 1 AS there FROM tp_worker WHERE 1 = 0
UNION ALL SELECT 1 AS there FROM tp_pause WHERE 1 = 0
UNION ALL SELECT 1 AS there FROM tp_activity WHERE 1 = 0
UNION ALL SELECT 1 AS there FROM tp_audit_head WHERE 1 = 0
UNION ALL SELECT 1 AS there FROM tp_request WHERE 1 = 0
UNION ALL SELECT 1 AS there FROM tp_request_row WHERE 1 = 0
UNION ALL SELECT 1 AS there FROM tp_gate WHERE 1 = 0
UNION ALL SELECT 1 AS there FROM tp_gate_task WHERE 1 = 0
UNION ALL SELECT 1 AS there FROM tp_step WHERE 1 = 0
UNION ALL SELECT 1 AS there FROM tp_group WHERE 1 = 0
UNION ALL SELECT 1 AS there FROM tp_group_task WHERE 1 = 0
UNION ALL SELECT 1 AS there FROM tp_progress WHERE 1 = 0
UNION ALL SELECT 1 AS there FROM tp_cancel WHERE 1 = 0
