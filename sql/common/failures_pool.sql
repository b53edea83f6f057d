-- Why tasks of the {pool} pool failed, the newest first.
{first_n}
SELECT id, handler, reason, {changed_at} AS changed_at FROM tp_{pool}
WHERE {selected} AND {given_or_null biz_key} AND {changed_at} >= :since AND {changed_at} <= :until
ORDER BY {changed_at} DESC
{first_n_end}
