-- The ids of the tasks about one business row, by the indexes on biz_key, for an operator.
SELECT id FROM tp_pending WHERE biz_key = :biz_key AND {given_pool pending}
UNION ALL
SELECT id FROM tp_finished WHERE biz_key = :biz_key AND {given_pool finished}
UNION ALL
SELECT id FROM tp_failed WHERE biz_key = :biz_key AND {given_pool failed}
