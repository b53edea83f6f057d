-- A group that is not over.
{first_n}
SELECT name FROM tp_group WHERE state < 'over' ORDER BY state
{first_n_end}
