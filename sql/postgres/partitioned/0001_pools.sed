# Makes the script of a partitioned pool from that of a plain one: sed -f 0001_pools.sed ../schema/0001_pools.sql
1s/\.$/, with pending partitioned by handler and finished by month.\
-- Instead of schema\/0001_pools.sql; version 2 comes as usual: 0002_services.sql, or taskpool schema install./
2s/   or:.*//
3s/$/ What it costs: docs\/partitions.md./
/^CREATE TABLE IF NOT EXISTS tp_pending (/,/^);/{
  s/PRIMARY KEY (id)/PRIMARY KEY (id, handler)/
  s/^);/) PARTITION BY LIST (handler);\
\
-- Handlers without a partition of their own.\
CREATE TABLE IF NOT EXISTS tp_pending_others PARTITION OF tp_pending DEFAULT;/
}
/^CREATE TABLE IF NOT EXISTS tp_finished (/,/^);/{
  s/PRIMARY KEY (id)/PRIMARY KEY (id, settled_at)/
  s/^);/) PARTITION BY RANGE (settled_at);\
\
-- Months without a partition of their own; add_month.sql makes those.\
CREATE TABLE IF NOT EXISTS tp_finished_others PARTITION OF tp_finished DEFAULT;/
}
/^-- due:/s/dup: at most one open task per dedup_key/one: at most one open task per dedup_key and handler/
s/ tp_pending_dup ON tp_pending (dedup_key);/ tp_pending_one ON tp_pending (dedup_key, handler) WHERE dedup_key IS NOT NULL;/
