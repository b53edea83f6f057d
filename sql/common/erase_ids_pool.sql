-- Tasks of the {pool} pool about one business row, by the index on biz_key.
{first_n}
SELECT id, created_at, {changed_at} AS changed_at FROM tp_{pool} WHERE biz_key = :biz_key
{first_n_end}
