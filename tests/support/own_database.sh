#!/usr/bin/env bash
# own_database.sh COMMAND...: runs a test that counts rows, on PostgreSQL in a database that is made for it: dead rows stay for as
# long as any session of the same database has an older snapshot. With on_database.sh in front.
set -eu
case $TASKPOOL_TEST_ENTRY in
postgres | generic_postgres) ;;
*) exec "$@" ;;
esac
part() {
  printf '%s' "$TASKPOOL_TEST_DSN" | sed -n "s/.*$1=\([^;]*\);.*/\1/p"
}
PGHOST=$(part Server)
PGPORT=$(part Port)
PGUSER=$(part UID)
PGPASSWORD=$(part PWD)
export PGHOST PGPORT PGUSER PGPASSWORD
name=taskpool_$(od -An -N4 -tx4 /dev/urandom | tr -d ' ')
"$TASKPOOL_TEST_PG_BIN/createdb" -T template0 "$name"
trap '"$TASKPOOL_TEST_PG_BIN/dropdb" -f "$name"' EXIT
TASKPOOL_TEST_DSN=$(printf '%s' "$TASKPOOL_TEST_DSN" | sed "s/Database=[^;]*;/Database=$name;/")
export TASKPOOL_TEST_DSN TASKPOOL_DSN=$TASKPOOL_TEST_DSN
"$@"
