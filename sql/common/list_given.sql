-- The tasks with these ids, in the pool or in all.
SELECT {list_columns}, 0 AS settled_at, gate, {deadline_at_pending} AS deadline_at, 'pending' AS pool, wanted_at
FROM tp_pending
WHERE id IN (:ids) AND {given_pool pending} AND {selected} AND {given_or_null biz_key}
  AND modified_at >= :since AND modified_at <= :until
UNION ALL
SELECT {list_columns}, settled_at AS settled_at, gate, {deadline_at} AS deadline_at, 'finished' AS pool, 0 AS wanted_at
FROM tp_finished
WHERE id IN (:ids) AND {given_pool finished} AND {selected} AND {given_or_null biz_key}
  AND settled_at >= :since AND settled_at <= :until
UNION ALL
SELECT {list_columns}, settled_at AS settled_at, gate, {deadline_at} AS deadline_at, 'failed' AS pool, 0 AS wanted_at
FROM tp_failed
WHERE id IN (:ids) AND {given_pool failed} AND {selected} AND {given_or_null biz_key}
  AND settled_at >= :since AND settled_at <= :until
ORDER BY id
