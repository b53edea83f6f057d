-- Is there a group that has not ended?
SELECT 1 AS there FROM tp_meta WHERE name = 'schema' AND EXISTS (SELECT 1 FROM tp_group WHERE state IN ('open', 'closed', 'opening'))
