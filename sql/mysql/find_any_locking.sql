-- Differs from find_any because a locking read sees what is committed by now, where the session's level hides it or shows what is not.
SELECT id, {may_read_params} AS readable
FROM ({committed SELECT id FROM tp_pending WHERE id = :id}
      UNION ALL
      {committed SELECT id FROM tp_finished WHERE id = :id}
      UNION ALL
      {committed SELECT id FROM tp_failed WHERE id = :id}) there
