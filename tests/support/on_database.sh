#!/usr/bin/env bash
# on_database.sh ENTRY COMMAND...: runs a test against one entry of the matrix. Sets TASKPOOL_TEST_DSN and
# TASKPOOL_TEST_ENTRY. A missing database is a loud skip (exit 77), or a failure when TASKPOOL_TEST_REQUIRE=1;
# but oracle only runs where somebody names a server, and MySQL where tools/fetch_mysql.sh could fetch it.
set -eu
entry=$1
shift
root=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=/dev/null
if [ -r "${TP_SCRATCH:-$root/.scratch}/env.sh" ]; then . "${TP_SCRATCH:-$root/.scratch}/env.sh"; fi
variable=TASKPOOL_TEST_DSN_$(printf '%s' "$entry" | tr '[:lower:]' '[:upper:]')
dsn=${!variable:-}
if [ -z "$dsn" ]; then
  case $entry in
  oracle) optional=yes ;;
  *mysql) if [ -e "${TP_SCRATCH:-$root/.scratch}/mysql.unreachable" ]; then optional=yes; else optional=no; fi ;;
  *) optional=no ;;
  esac
  if [ "$optional" = no ] && [ "${TASKPOOL_TEST_REQUIRE:-0}" = 1 ]; then
    echo "FAILED: $variable is not set; run tools/db_up.sh" >&2
    exit 1
  fi
  echo "SKIPPED: $entry is not there: $variable is not set (tools/db_up.sh starts what can be started here)"
  exit 77
fi
if [ "$entry" = sqlite ] || [ "$entry" = generic_sqlite ]; then
  # A file of its own for each test, so that tests may run side by side. There one writes at a time; a writer that stands
  # still for seconds is waited for. Of a key that is given twice the first counts.
  file=$(mktemp "${TASKPOOL_TEST_FILES:-${TMPDIR:-/tmp}}/taskpool.XXXXXX.db")
  trap 'rm -f "$file" "$file-wal" "$file-shm"' EXIT
  dsn=$(printf '%s' "$dsn" | sed "s#Database=[^;]*;#Database=$file;Timeout=60000;#")
fi
export TASKPOOL_TEST_DSN=$dsn TASKPOOL_TEST_ENTRY=$entry TASKPOOL_DSN=$dsn
# Tools that go to MariaDB's server go to MySQL's.
if [ "${entry%mysql}" != "$entry" ]; then
  export TASKPOOL_TEST_MARIADB_PORT=${TASKPOOL_TEST_MYSQL_PORT:-} TASKPOOL_TEST_MARIADB_SOCKET=${TASKPOOL_TEST_MYSQL_SOCKET:-} \
    TASKPOOL_TEST_MARIADB_PIDFILE=${TASKPOOL_TEST_MYSQL_PIDFILE:-}
fi
# What a pool needs before its schema can be installed, to be called with its prefix.
if [ "$entry" = oramode ]; then export TASKPOOL_TEST_PREPARE=$root/tests/standin/install.sh; fi
# A shell in the background has its programs ignore these; tests send them.
env --default-signal=INT,QUIT "$@"
