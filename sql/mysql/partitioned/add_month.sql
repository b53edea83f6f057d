-- Adds the next month to tp_finished: the one after the last there is, or this month. Run it once a month, some months
-- ahead, so that no row has to be moved. For another prefix replace tp_ throughout.
SET @month = (SELECT GREATEST(COALESCE(MAX(STR_TO_DATE(CONCAT(SUBSTR(PARTITION_NAME, 2), '01'), '%Y%m%d') + INTERVAL 1 MONTH), '2000-01-01'),
                              CAST(DATE_FORMAT(UTC_DATE(), '%Y-%m-01') AS DATE))
              FROM information_schema.PARTITIONS
              WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 'tp_finished' AND PARTITION_NAME REGEXP '^p2[0-9]{5}$');
SET @statement = CONCAT('ALTER TABLE tp_finished REORGANIZE PARTITION later INTO (PARTITION p', DATE_FORMAT(@month, '%Y%m'),
                        ' VALUES LESS THAN (', TIMESTAMPDIFF(SECOND, '1970-01-01', @month + INTERVAL 1 MONTH), '000), ',
                        'PARTITION later VALUES LESS THAN MAXVALUE)');
PREPARE add_month FROM @statement;
EXECUTE add_month;
DEALLOCATE PREPARE add_month;
