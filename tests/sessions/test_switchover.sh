#!/usr/bin/env bash
# test_switchover.sh PATH_TO_TASKPOOL: two PostgreSQL servers of its own, a primary and its copy. The primary is
# made read-only, with all sessions kept, and the copy takes over: a worker that knows both must find it.
# shellcheck source-path=SCRIPTDIR/../../tools
set -euo pipefail
TASKPOOL=$(realpath "${1:?usage: test_switchover.sh PATH_TO_TASKPOOL}")
# shellcheck source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../../tools/lib.sh"
bin=$(find_pg_bin) || { say "SKIPPED: there is no PostgreSQL server here"; exit 77; }
base=$(mktemp -d /var/tmp/taskpool.XXXXXX)
chmod 755 "$base"
own_for postgres "$base"
# shellcheck disable=SC2119 # no port is taken yet
port=$(free_port)
worker=
lost=

clean_up() {
  [ -z "$worker$lost" ] || kill -KILL ${worker:+"$worker"} ${lost:+"$lost"} 2>/dev/null || true
  for name in old new; do
    as_user postgres "$bin/pg_ctl" stop -D "$base/$name" -m immediate >/dev/null 2>&1 || true
  done
  rm -rf "$base"
}
trap clean_up EXIT

# start NAME ADDRESS: with the settings that no other has.
start() {
  as_user postgres mkdir -p "$base/$1.socket"
  as_user postgres "$bin/pg_ctl" start -D "$base/$1" -l "$base/$1.log" -w -t 60 \
    -o "-c listen_addresses=$2 -p $port -k $base/$1.socket" </dev/null >/dev/null
}

# sql NAME STATEMENT
sql() {
  as_user postgres "$bin/psql" -XqAt -v ON_ERROR_STOP=1 -h "$base/$1.socket" -p "$port" -U postgres -d postgres -c "$2"
}

# await WHAT SERVER QUESTION: until the answer is t.
await() {
  local end=$((SECONDS + 120))
  until [ "$(sql "$2" "$3")" = t ]; do
    if [ $SECONDS -ge $end ]; then
      cat "$base/work.log" >&2
      die "it does not come: $1"
    fi
    sleep 0.1
  done
  say "ok - $1"
}

as_user postgres "$bin/initdb" -D "$base/old" -U postgres --encoding=UTF8 --locale=C.UTF-8 --auth=trust >/dev/null
start old 127.0.0.1
as_user postgres "$bin/pg_basebackup" -D "$base/new" -R -X stream -h "$base/old.socket" -p "$port" -U postgres
start new 127.0.0.2

# The first address is nobody's. The user's name has a character for which the book demands braces, which the driver takes for part of it.
sql old 'CREATE ROLE "pay@roll" LOGIN SUPERUSER'
export TASKPOOL_DSN="Driver=PostgreSQL Unicode;Server=127.0.0.3,127.0.0.1,127.0.0.2;Port=$port;UID=pay@roll;Database=postgres"
TASKPOOL_DSN+=";pqopt={target_session_attrs=read-write}"
"$TASKPOOL" schema install >/dev/null
"$TASKPOOL" work --handler pay=/bin/true >"$base/work.log" 2>&1 &
worker=$!
# at_the_copy COMMAND...: over the copy alone, it says what the copy is.
at_the_copy() {
  local dsn="Driver=PostgreSQL Unicode;Server=127.0.0.2;Port=$port;UID=postgres;Database=postgres;Prefix=${prefix:-tp_}" code=0
  TASKPOOL_DSN=$dsn "$TASKPOOL" "$@" >"$base/copy.log" 2>&1 || code=$?
  if [ $code = 0 ] || ! grep -q 'may be a standby' "$base/copy.log" || grep -q 'permissions' "$base/copy.log"; then
    cat "$base/copy.log" >&2
    die "taskpool $* at the copy: exit code $code"
  fi
  say "ok - at the copy: $*"
}

"$TASKPOOL" enqueue pay >/dev/null
await "the first task is done by the old server" old "SELECT count(*) = 1 FROM tp_finished"

await "the copy has it too" new "SELECT count(*) = 1 FROM tp_finished"
at_the_copy enqueue pay --retry-for 0s
at_the_copy pause pay
at_the_copy resume pay
at_the_copy keep finished 9d
at_the_copy schedule add nightly '@daily' pay
prefix=other_ at_the_copy schema install
at_the_copy doctor
TASKPOOL_DSN="Driver=PostgreSQL Unicode;Server=127.0.0.2;Port=$port;UID=postgres;Database=postgres" \
  "$TASKPOOL" work --handler pay=/bin/true >"$base/copy.log" 2>&1 &
lost=$!
end=$((SECONDS + 120))
until grep -q 'may be a standby' "$base/copy.log"; do
  [ $SECONDS -lt $end ] || die "a worker at the copy does not say what that is"
  sleep 0.1
done
kill -TERM "$lost"
wait "$lost"
lost=
say "ok - at the copy: work"

"$TASKPOOL" enqueue pay --delay 2s >/dev/null
sql old "ALTER SYSTEM SET default_transaction_read_only = on" >/dev/null
sql old "SELECT pg_reload_conf()" >/dev/null
await "the old server is read-only" old "SELECT current_setting('default_transaction_read_only') = 'on'"
lsn=$(sql old "SELECT pg_current_wal_lsn()")
await "the new one has all of it" new "SELECT pg_last_wal_replay_lsn() >= '$lsn'"
as_user postgres "$bin/pg_ctl" promote -D "$base/new" -w >/dev/null

"$TASKPOOL" enqueue pay >/dev/null
await "the worker has gone over" new "SELECT count(*) = 3 FROM tp_finished"
await "and has left the old server" old \
  "SELECT count(*) = 0 FROM pg_stat_activity WHERE client_addr IS NOT NULL AND backend_type = 'client backend'"
await "no failure was counted" new "SELECT sum(failures) = 0 FROM tp_finished"
kill -TERM "$worker"
wait "$worker"
worker=
