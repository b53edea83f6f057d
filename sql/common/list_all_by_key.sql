-- A page of all pools together about one business row, by the indexes on biz_key.
{first_n}
SELECT * FROM (
      {first_n}
      SELECT {list_columns}, 0 AS settled_at, gate, {deadline_at_pending} AS deadline_at, 'pending' AS pool, wanted_at
      FROM tp_pending
      WHERE biz_key = :biz_key AND {by_id} AND modified_at >= :since AND modified_at <= :until
      ORDER BY id
      {first_n_end}) pending_tasks
UNION ALL
SELECT * FROM (
      {first_n}
      SELECT {list_columns}, settled_at AS settled_at, gate, {deadline_at} AS deadline_at, 'finished' AS pool, 0 AS wanted_at
      FROM tp_finished
      WHERE biz_key = :biz_key AND {by_id} AND settled_at >= :since AND settled_at <= :until
      ORDER BY id
      {first_n_end}) finished_tasks
UNION ALL
SELECT * FROM (
      {first_n}
      SELECT {list_columns}, settled_at AS settled_at, gate, {deadline_at} AS deadline_at, 'failed' AS pool, 0 AS wanted_at
      FROM tp_failed
      WHERE biz_key = :biz_key AND {by_id} AND settled_at >= :since AND settled_at <= :until
      ORDER BY id
      {first_n_end}) failed_tasks
ORDER BY id
{first_n_end}
