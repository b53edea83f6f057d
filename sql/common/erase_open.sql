-- Is a task about the business row open? By the index on biz_key.
SELECT id FROM tp_pending WHERE biz_key = :biz_key
