#!/usr/bin/env bash
# Behind a real PgBouncer: where it gives each transaction another session, the doctor finds that prepared statements are lost and names a
# remedy, which helps; where each connection keeps its session, nothing is wrong.
# on_database.sh postgres test_pooler.sh PATH_TO_TASKPOOL
# shellcheck source-path=SCRIPTDIR/../../tools
set -euo pipefail
taskpool=$1
# shellcheck source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../../tools/lib.sh"
PATH=$PATH:/usr/sbin
if ! command -v pgbouncer >/dev/null; then
  echo "SKIPPED: pgbouncer is not installed"
  exit 77
fi
failed=0
pooler=
scratch=$(mktemp -d)
chmod 755 "$scratch"
login=${TASKPOOL_TEST_DSN%;}
database=${login##*Database=}
database=${database%%;*}

stop_pooler() {
  if [ -n "$pooler" ]; then
    kill "$pooler" 2>/dev/null || true
    wait "$pooler" 2>/dev/null || true
  fi
  pooler=
}

# A role of its own, so that what it is given counts for nobody else; it may do what the owner of the tests' database may.
as_owner() {
  local word words=()
  for word in "$@"; do words+=(-c "$word"); done
  as_user postgres "$TASKPOOL_TEST_PG_BIN/psql" -XqAt -h "$TASKPOOL_TEST_PG_SOCKET" -p "$TASKPOOL_TEST_PG_PORT" -U postgres -d "$database" \
    "${words[@]}" >/dev/null
}

clean_up() {
  stop_pooler
  as_owner "DROP OWNED BY $role" "DROP ROLE $role" || true
  rm -rf "$scratch"
}
trap clean_up EXIT
role=pooled_$(od -An -N4 -tx4 /dev/urandom | tr -d ' ')
as_owner "CREATE ROLE $role LOGIN PASSWORD '$role'" "GRANT taskpool TO $role"

listens() {
  (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null
}

# PgBouncer refuses to run as root.
as_its_user() {
  if [ "$(id -u)" = 0 ]; then exec setpriv --reuid=postgres --regid=postgres --clear-groups "$@"; else exec "$@"; fi
}

# start_pooler MODE: sets port. Another process may take the port before the pooler does: then it is another one's turn.
start_pooler() {
  local tries
  for _ in 1 2 3 4 5; do
    port=$(free_port "$TASKPOOL_TEST_PG_PORT")
    cat >"$scratch/pooler.ini" <<END
[databases]
$database = host=127.0.0.1 port=$TASKPOOL_TEST_PG_PORT user=$role password=$role
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = $port
unix_socket_dir =
auth_type = any
pool_mode = $1
END
    if [ "$(id -u)" = 0 ]; then chown postgres "$scratch/pooler.ini"; fi
    chmod 600 "$scratch/pooler.ini"
    as_its_user pgbouncer -q "$scratch/pooler.ini" >"$scratch/pooler.log" 2>&1 &
    pooler=$!
    for ((tries = 0; tries < 600; tries++)); do
      if ! kill -0 "$pooler" 2>/dev/null; then break; fi
      if listens "$port"; then return; fi
      sleep 0.1
    done
    stop_pooler
  done
  cat "$scratch/pooler.log"
  echo "FAILED: PgBouncer does not start"
  exit 1
}

# expect NAME CODE REGEX COMMAND...: an empty REGEX fits any output.
expect() {
  local name=$1 wanted=$2 regex=$3 code=0
  shift 3
  "$@" >"$scratch/out" 2>&1 || code=$?
  if [ "$code" = "$wanted" ] && { [ -z "$regex" ] || grep -qE -- "$regex" "$scratch/out"; }; then
    echo "ok - $name"
  else
    failed=1
    echo "not ok - $name: exit code $code"
    cat "$scratch/out"
  fi
}

behind() {
  TASKPOOL_DSN="${login/Port=$TASKPOOL_TEST_PG_PORT;/Port=$port;};Prefix=$prefix$1" "$taskpool" "${@:2}"
}

prefix="b$(od -An -N4 -tx4 /dev/urandom | tr -d ' ')_"
start_pooler transaction
expect "the doctor finds that prepared statements are lost, and names the remedy" 9 \
  '^pooler +BAD .*another session, which does not know .* put UseServerSidePrepare=0 into the connection string' behind '' doctor
expect "and then that the role lacks a setting" 9 '^pooler +BAD .*\(lock_timeout\) .*ALTER ROLE' behind ';UseServerSidePrepare=0' doctor
as_owner "ALTER ROLE $role SET lock_timeout = '10s'" "ALTER ROLE $role SET default_transaction_isolation = 'repeatable read'"
stop_pooler
start_pooler transaction
refused() { behind ';UseServerSidePrepare=0' doctor && behind ';UseServerSidePrepare=0' doctor; }
expect "or has another isolation level by default" 9 "^(session|connection|pooler) +BAD .*ALTER ROLE" refused
as_owner "ALTER ROLE $role SET default_transaction_isolation = 'read committed'"
stop_pooler
start_pooler transaction
expect "the remedy helps the doctor" 0 '^pooler +ok .*another session' behind ';UseServerSidePrepare=0' doctor
expect "and the schema" 0 '' behind ';UseServerSidePrepare=0' schema install
for i in 1 2 3; do expect "and enqueue $i" 0 '' behind ';UseServerSidePrepare=0' enqueue hello "$i"; done
expect "and a worker" 0 '^done 3,' behind ';UseServerSidePrepare=0' work --handler hello=true --drain
expect "and one with plan hold" 0 '^done 0,' behind ';UseServerSidePrepare=0' work --plan hold --handler hello=true --drain
stop_pooler
start_pooler session
expect "a session for each connection: nothing is wrong" 0 '' behind '' doctor
[ $failed = 0 ]
