-- A page of the pool, or of all, in the order of the last change: of settled tasks by the index on settled_at.
{first_n}
SELECT * FROM (
      {first_n}
      SELECT {list_columns}, 0 AS settled_at, gate, {deadline_at_pending} AS deadline_at, 'pending' AS pool, wanted_at, modified_at AS changed_at
      FROM tp_pending
      WHERE {given_pool pending} AND {by_change modified_at}
      ORDER BY modified_at, id
      {first_n_end}) pending_tasks
UNION ALL
SELECT * FROM (
      {first_n}
      SELECT {list_columns}, settled_at AS settled_at, gate, {deadline_at} AS deadline_at, 'finished' AS pool, 0 AS wanted_at, settled_at AS changed_at
      FROM tp_finished
      WHERE {given_pool finished} AND {by_change settled_at}
      ORDER BY settled_at, id
      {first_n_end}) finished_tasks
UNION ALL
SELECT * FROM (
      {first_n}
      SELECT {list_columns}, settled_at AS settled_at, gate, {deadline_at} AS deadline_at, 'failed' AS pool, 0 AS wanted_at, settled_at AS changed_at
      FROM tp_failed
      WHERE {given_pool failed} AND {by_change settled_at}
      ORDER BY settled_at, id
      {first_n_end}) failed_tasks
ORDER BY changed_at, id
{first_n_end}
