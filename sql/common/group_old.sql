-- Groups that ended before a time.
{first_n}
SELECT name FROM tp_group WHERE state = 'ended' AND ended_at < :before ORDER BY ended_at
{first_n_end}
