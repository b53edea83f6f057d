-- How many tasks of each pool are about the business row, by the indexes on biz_key, and how many schedules make such.
SELECT (SELECT COUNT(*) FROM tp_pending WHERE biz_key = :biz_key) AS open_tasks,
       (SELECT COUNT(*) FROM tp_finished WHERE biz_key = :biz_key) AS finished,
       (SELECT COUNT(*) FROM tp_failed WHERE biz_key = :biz_key) AS failed,
       (SELECT COUNT(*) FROM tp_schedule WHERE biz_key = :biz_key) AS schedules
{from_one_row}
