#!/usr/bin/env bash
# over.sh LIBRARY KEY=VALUE... -- COMMAND...: through on_database.sh; runs a test over the driver for tests, which hands on to the
# driver of the connection string. The keys are the driver's own: Named=libsqora.so Habits=no_bigint,cursors:50.
set -euo pipefail
library=$1 keys=''
shift
while [ "$1" != -- ]; do
  keys=$keys$1\;
  shift
done
shift
name=${TASKPOOL_TEST_DSN#*Driver=}
name=${name%%;*}
real=$name
if [ "${name#/}" = "$name" ]; then real=$(odbcinst -q -d -n "$name" | sed -n 's/^Driver *= *//p'); fi
[ -n "$real" ] || { echo "over.sh: odbcinst knows no driver $name" >&2 && exit 1; }
# Where a driver is given by its file's name alone.
for folder in /usr/lib/*/odbc; do
  if [ ! -e "$real" ] && [ -e "$folder/$real" ]; then real=$folder/$real; fi
done
TASKPOOL_TEST_DSN="Driver=$library;Real=$real;$keys${TASKPOOL_TEST_DSN/Driver=$name;/}"
export TASKPOOL_TEST_DSN TASKPOOL_DSN=$TASKPOOL_TEST_DSN
exec "$@"
