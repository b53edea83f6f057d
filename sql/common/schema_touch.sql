-- Names every table of the pool, and every column that a later version added to a table that was there, so that what a script
-- which broke off has left out is found. Reads no row. tp_audit_head stands for tp_audit, which operators only
-- may read.
SELECT 1 AS there FROM tp_pending WHERE 1 = 0 AND wanted_at IS NULL AND gate IS NULL
UNION ALL SELECT 1 AS there FROM tp_finished WHERE 1 = 0 AND gate IS NULL AND result IS NULL
UNION ALL SELECT 1 AS there FROM tp_failed WHERE 1 = 0 AND gate IS NULL
UNION ALL SELECT 1 AS there FROM tp_history WHERE 1 = 0
UNION ALL SELECT 1 AS there FROM tp_once WHERE 1 = 0
UNION ALL SELECT 1 AS there FROM tp_schedule WHERE 1 = 0 AND calendar IS NULL AND closed IS NULL AND rule_at IS NULL AND fire_at IS NULL AND calendar_version IS NULL
UNION ALL SELECT 1 AS there FROM tp_calendar WHERE 1 = 0
UNION ALL SELECT 1 AS there FROM tp_calendar_day WHERE 1 = 0
UNION ALL SELECT 1 AS there FROM tp_worker WHERE 1 = 0 AND token_tag IS NULL AND drain_at IS NULL AND drain_who IS NULL
UNION ALL SELECT 1 AS there FROM tp_pause WHERE 1 = 0
UNION ALL SELECT 1 AS there FROM tp_activity WHERE 1 = 0
UNION ALL SELECT 1 AS there FROM tp_audit_head WHERE 1 = 0
UNION ALL SELECT 1 AS there FROM tp_request WHERE 1 = 0
UNION ALL SELECT 1 AS there FROM tp_request_row WHERE 1 = 0
UNION ALL SELECT 1 AS there FROM tp_gate WHERE 1 = 0 AND tokens IS NULL AND period_ms IS NULL AND held IS NULL AND token_at IS NULL AND pattern IS NULL
UNION ALL SELECT 1 AS there FROM tp_gate_task WHERE 1 = 0
UNION ALL SELECT 1 AS there FROM tp_step WHERE 1 = 0
UNION ALL SELECT 1 AS there FROM tp_group WHERE 1 = 0
UNION ALL SELECT 1 AS there FROM tp_group_task WHERE 1 = 0
UNION ALL SELECT 1 AS there FROM tp_progress WHERE 1 = 0
UNION ALL SELECT 1 AS there FROM tp_cancel WHERE 1 = 0
