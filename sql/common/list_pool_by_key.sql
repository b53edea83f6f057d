-- A page of the {pool} pool about one business row, by the index on biz_key.
{first_n}
SELECT {list_columns}, {settled_at} AS settled_at, gate, {deadline_at} AS deadline_at
FROM tp_{pool}
WHERE biz_key = :biz_key AND {by_id} AND {changed_at} >= :since AND {changed_at} <= :until
ORDER BY id
{first_n_end}
