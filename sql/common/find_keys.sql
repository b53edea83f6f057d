-- Which open tasks have these keys? Where the pending pool is partitioned, a key may be open once for each handler.
SELECT dedup_key, id FROM tp_pending WHERE dedup_key IN (:dedup_keys)
