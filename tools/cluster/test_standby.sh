#!/usr/bin/env bash
# test_standby.sh TASKPOOL: a PostgreSQL primary whose commits wait for a standby that is away, in a cluster of its own. What was stored on the
# primary alone, because the wait for the standby was ended, is answered for only once the standby has it.
# shellcheck source-path=SCRIPTDIR/..
set -euo pipefail
TASKPOOL=$(realpath "${1:?usage: test_standby.sh TASKPOOL}")
tools=$(realpath "$(dirname "${BASH_SOURCE[0]}")/..")
# shellcheck source=lib.sh
. "$tools/lib.sh"
TP_SCRATCH=$(mktemp -d /var/tmp/taskpool.XXXXXX)
export TP_SCRATCH
asking=

clean_up() {
  [ -z "$asking" ] || kill -KILL "$asking" 2>/dev/null || true
  "$tools/cluster_down.sh" >/dev/null 2>&1 || true
  rm -rf "$TP_SCRATCH"
}
trap clean_up EXIT

code=0
"$tools/cluster_up.sh" streaming || code=$?
if [ $code = 3 ]; then
  say "SKIPPED: a package is missing"
  exit 77
fi
[ $code = 0 ] || exit $code
# shellcheck source=/dev/null
. "$TP_SCRATCH/cluster.sh"
export TASKPOOL_DSN=$TASKPOOL_TEST_CLUSTER_DSN

sql() {
  as_user postgres "$TASKPOOL_TEST_PG_BIN/psql" -XqAt -v ON_ERROR_STOP=1 -h "$TASKPOOL_TEST_NODE1_SOCKET" -p "$TASKPOOL_TEST_NODE1_PORT" \
    -U postgres -d taskpool -c "$1"
}

# await WHAT CONDITION: until the server says t. Whoever asks must not have had an answer before.
await() {
  local end=$((SECONDS + 120))
  until [ "$(sql "SELECT $2")" = t ]; do
    if [ -n "$asking" ] && ! kill -0 "$asking" 2>/dev/null; then
      cat "$TP_SCRATCH/said" >&2
      die "answered before: $1"
    fi
    [ $SECONDS -lt $end ] || die "it does not come: $1"
    sleep 0.1
  done
  say "ok - $1"
}

# waiting [FORM]: the sessions whose commit waits; only those whose statement has this form.
waiting() {
  printf "FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND query LIKE '%s'" "${1:-%}"
}

ask() {
  "$TASKPOOL" "$@" >"$TP_SCRATCH/said" 2>&1 &
  asking=$!
}

# answered WHAT: now that the standby is there.
answered() {
  wait "$asking" || {
    cat "$TP_SCRATCH/said" >&2
    die "failed: $1"
  }
  asking=
  say "ok - $1"
}

# doctor_says FORM [DSN]
doctor_says() {
  local said="" ended=0
  said=$(TASKPOOL_DSN=${2:-$TASKPOOL_DSN} timeout 120 "$TASKPOOL" doctor 2>&1) || ended=$?
  if [ $ended != 9 ] || ! grep -Eq "$1" <<<"$said"; then
    die "the doctor ended with $ended: $said"
  fi
  say "ok - the doctor says: $1"
}

lose_standby() {
  as_user postgres "$TASKPOOL_TEST_PG_BIN/pg_ctl" stop -D "$(dirname "$TASKPOOL_TEST_NODE2_PIDFILE")" -m immediate >/dev/null
  await "no standby follows" "count(*) = 0 FROM pg_stat_replication"
}

catching_up='%pg_logical_emit_message%'
"$TASKPOOL" schema install >/dev/null
"$TASKPOOL" enqueue held >/dev/null

doctor_says '^cluster +BAD .* itself a copy' "$TASKPOOL_TEST_NODE2_DSN"
lose_standby
doctor_says '^cluster +BAD .* every commit waits'

ask enqueue order --id 0192f0c0-0000-7000-8000-000000000001
await "the enqueue waits for the standby" "count(*) = 1 $(waiting)"
sql "SELECT pg_terminate_backend(pid) $(waiting)" >/dev/null
await "the task is on the primary" "count(*) = 1 FROM tp_pending WHERE handler = 'order'"
for end in terminate cancel; do
  await "asked again, it waits for the standby" "count(*) = 1 $(waiting "$catching_up")"
  last=$(sql "SELECT max(query_start) $(waiting "$catching_up")")
  sql "SELECT pg_${end}_backend(pid) $(waiting)" >/dev/null
  await "and once more after $end" "count(*) = 1 $(waiting "$catching_up") AND query_start > '$last'"
done
"$tools/cluster_up.sh" --node 2
answered "answered when the standby has it"

# One statement that commits by itself: a completion.
mkfifo "$TP_SCRATCH/go"
cat >"$TP_SCRATCH/handler" <<END
#!/bin/sh
read -r line <"$TP_SCRATCH/go"
END
chmod +x "$TP_SCRATCH/handler"
ask work --handler "held=$TP_SCRATCH/handler" --lease 1h --threads 1
await "the task is being handled" "count(*) = 1 FROM tp_pending WHERE handler = 'held' AND state = 'handling'"
lose_standby
echo go >"$TP_SCRATCH/go"
await "its end is waiting" "count(*) >= 1 $(waiting '%tp_finished%')"
sql "SELECT pg_cancel_backend(pid) $(waiting '%tp_finished%')" >/dev/null
await "the task is done on the primary" "count(*) = 1 FROM tp_finished WHERE handler = 'held'"
await "its worker asks again, and waits" "count(*) >= 1 $(waiting "$catching_up")"
"$tools/cluster_up.sh" --node 2
kill -TERM "$asking"
answered "the worker ends when the standby has it"
