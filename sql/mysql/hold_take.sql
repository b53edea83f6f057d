-- Picks ids in one lane without a lock, and locks the first of them past those that others hold, by the primary key. Locked along
-- the index that picks them, a row that another session holds would keep the lock of its index entry, so that that session
-- could not move it, and MariaDB would lock the first row behind what is due. The join reads the rows as they were picked; sorted, it
-- would lock all of them. Nothing when a lane from :ahead on comes before it, which is more urgent (MAX: it is read
-- from the lane backwards; from :ahead on, MIN would read every entry of a claimed task that an old snapshot still keeps in the index).
-- The indexes are forced, that of shards where shards are asked for: the server may prefer to read and sort the whole pool.
SELECT task.id, NULL AS handler, task.biz_key,
       {params_if_short task.params},
       task.reason, {mostly_pending task.state}, {mostly_0 task.shard}, {mostly_0 task.priority}, {mostly_0 task.failures}, task.max_failures,
       task.created_at, {mostly_created task.due_at},
       {now} AS now_ms, {mostly_created task.modified_at}, task.owner
FROM (SELECT id FROM tp_pending {by_lane}
      WHERE {lane} AND {due_since}
        AND (SELECT MAX(priority) FROM tp_pending AS other FORCE INDEX (tp_pending_due) WHERE other.handler = :handler
               AND other.priority >= :ahead AND other.priority < :priority) IS NULL
      ORDER BY due_at, id LIMIT :window) AS picked
STRAIGHT_JOIN tp_pending AS task {by_primary_key} ON task.id = picked.id
WHERE task.due_at <= {now} {first_n_end} {lock_skip}
