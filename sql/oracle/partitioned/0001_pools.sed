# Makes the script of a partitioned pool from that of a plain one: sed -f 0001_pools.sed ../schema/0001_pools.sql
1s/\.$/ with the Partitioning option: pending by handler, finished by month./
2s/.*/-- Instead of schema\/0001_pools.sql, after 0001_functions.sql; version 2 comes as usual: 0002_services.sql, or taskpool schema install./
3s/.*/-- Drops nothing. For another prefix replace tp_ throughout. Keys stay unique over all partitions: their indexes are global. Never run here;\
-- what it costs: docs\/partitions.md./
/^CREATE TABLE tp_pending (/,/^);/s/^);/) PARTITION BY LIST (handler) (PARTITION others VALUES (DEFAULT));/
/^CREATE TABLE tp_finished (/,/^);/s/^);/) PARTITION BY RANGE (settled_at) (PARTITION later VALUES LESS THAN (MAXVALUE));/
