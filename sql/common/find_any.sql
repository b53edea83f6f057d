-- Is a task with this id in any pool, and may its content be read? :name is that of the pending pool. Where that is partitioned, its key
-- does not see a task of another handler.
SELECT id, {may_read_params} AS readable
FROM (SELECT id FROM tp_pending WHERE id = :id
      UNION ALL
      SELECT id FROM tp_finished WHERE id = :id
      UNION ALL
      SELECT id FROM tp_failed WHERE id = :id) there
