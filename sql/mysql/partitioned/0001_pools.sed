# Makes the script of a partitioned pool from that of a plain one: sed -f 0001_pools.sed ../schema/0001_pools.sql
1s/\.$/, with pending partitioned by handler and finished by month.\
-- Instead of schema\/0001_pools.sql; version 2 comes as usual: 0002_services.sql, or taskpool schema install./
2s/   or:.*//
3s/$/ What it costs: docs\/partitions.md./
4s/.*/-- MySQL has no DEFAULT partition: there handlers are shared out to 16 partitions.\
&/
/^CREATE TABLE IF NOT EXISTS tp_pending (/,/^)/{
  s/PRIMARY KEY (id)/PRIMARY KEY (id, handler)/
  s/UNIQUE KEY tp_pending_dup (dedup_key)/UNIQUE KEY tp_pending_dup (dedup_key, handler)/
  s/^\().*\);$/\1\
\/*M! PARTITION BY LIST COLUMNS (handler) (PARTITION others DEFAULT) *\/\
\/*!80000 PARTITION BY KEY (handler) PARTITIONS 16 *\/;/
}
/^CREATE TABLE IF NOT EXISTS tp_finished (/,/^)/{
  s/PRIMARY KEY (id)/PRIMARY KEY (id, settled_at)/
  s/^\().*\);$/\1\
PARTITION BY RANGE (settled_at) (PARTITION later VALUES LESS THAN MAXVALUE);/
}
