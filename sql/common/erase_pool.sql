-- Deletes these tasks of the {pool} pool, if they are still about the business row.
DELETE FROM tp_{pool} WHERE id IN (:ids) AND biz_key = :biz_key
