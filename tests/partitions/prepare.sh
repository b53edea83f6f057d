#!/usr/bin/env bash
# prepare.sh PREFIX: makes a partitioned pool of schema version 1 with the scripts of sql/DIALECT/partitioned and the database's own
# client: this month and the next two in the finished pool, the handlers pay and t1 apart in the pending pool.
# run.sh FILE and ask SQL are here for test_partitions.sh, which sources it with no argument.
# shellcheck shell=bash
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)

case $TASKPOOL_TEST_ENTRY in
postgres) dialect=postgres ;;
mariadb | mysql) dialect=mysql ;;
*)
  echo "SKIPPED: no partitioned scripts run on $TASKPOOL_TEST_ENTRY"
  exit 77
  ;;
esac

client() {
  if [ $dialect = postgres ]; then
    PGPASSWORD=$TASKPOOL_TEST_PASSWORD PGOPTIONS='-c client_min_messages=warning' psql -XqAt -v ON_ERROR_STOP=1 \
      -h 127.0.0.1 -p "$TASKPOOL_TEST_PG_PORT" -U taskpool -d taskpool
  else
    MYSQL_PWD=$TASKPOOL_TEST_PASSWORD mariadb --no-defaults --protocol=tcp --host=127.0.0.1 --port="$TASKPOOL_TEST_MARIADB_PORT" \
      --user=taskpool --default-character-set=utf8mb4 --batch --skip-column-names taskpool
  fi
}

# tp_ in SQL stands for the prefix, as the scripts say.
run() {
  sed "s/\btp_/$prefix/g" | client
}

partitioned() {
  run <"$root/sql/$dialect/partitioned/$1"
}

pools() {
  sed -f "$root/sql/$dialect/partitioned/0001_pools.sed" "$root/sql/$dialect/schema/0001_pools.sql" | run
}

add_handler() {
  sed "s/\bpay\b/$1/g; s/\(_\)pay\b/\1$1/g" "$root/sql/$dialect/partitioned/add_handler.sql" | run
}

make_partitioned_pool() {
  prefix=$1
  pools
  pools # safe to run again
  for _ in 1 2 3; do partitioned add_month.sql; done
  add_handler pay
  add_handler t1
}

if [ $# = 1 ]; then make_partitioned_pool "$1"; fi
