-- Groups that ended before a time.
{first_n}
SELECT name FROM tp_group WHERE state = 'over' AND ended_at < :before ORDER BY state, ended_at
{first_n_end}
