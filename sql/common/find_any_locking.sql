-- As find_any, by locking reads: they see what is committed by now, where the level of the transaction hides it or shows what is not.
SELECT id, {may_read_params} AS readable
FROM ({committed SELECT id FROM tp_pending WHERE id = :id}
      UNION ALL
      {committed SELECT id FROM tp_finished WHERE id = :id}
      UNION ALL
      {committed SELECT id FROM tp_failed WHERE id = :id}) there
