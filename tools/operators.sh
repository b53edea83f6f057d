#!/usr/bin/env bash
# How long the operators' commands take in a large pool of PostgreSQL, which tools/operators.sql makes, and whether they read history:
# none of them may take more than a second, or scan the finished pool.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source-path=SCRIPTDIR source=db_postgres.sh
. "$TP_ROOT/tools/db_postgres.sh"

usage() {
  cat <<END
usage: tools/operators.sh [--console] [FINISHED] | --help
Makes a pool of 200,000 open, 5,000 failed and FINISHED (10,000,000) tasks in a database of its own, and prints a line for each command:
the median of three runs in ms, how often the finished pool was scanned, the command. Before
them what the pages of taskpool-console ask for, the longest of three, alone with --console. PostgreSQL must be up (tools/db_up.sh).
END
}

finished=10000000 database=operators bad=0 only_looks=''
if [ "${1:-}" = --console ]; then only_looks=1 && shift; fi
case ${1:-} in
  --help | -h) usage && exit ;;
  '') ;;
  *[!0-9]*) usage >&2 && exit 2 ;;
  *) finished=$1 ;;
esac

sql() {
  pg_sql -d "$database" "$@"
}

make_pool() {
  pg_sql -d postgres -c "DROP DATABASE IF EXISTS $database" -c "CREATE DATABASE $database OWNER taskpool"
  "$taskpool" schema install --quiet
  sql -1 -v open=200000 -v failed=5000 -v finished="$finished" <"$TP_ROOT/tools/operators.sql"
  sql -c "VACUUM ANALYZE tp_finished"
}

milliseconds() {
  local begun code=0
  begun=$(date +%s%N)
  "$taskpool" "$@" >/dev/null 2>"$TP_SCRATCH/operators.err" || code=$?
  case $code in
    0 | 1 | 9) echo $((($(date +%s%N) - begun) / 1000000)) ;;
    *) die "taskpool $*: exit code $code: $(cat "$TP_SCRATCH/operators.err")" ;;
  esac
}

scans() {
  sql -c "SELECT seq_scan FROM pg_stat_user_tables WHERE relname = 'tp_finished'"
}

# measure COMMAND...: workers were heard of just now. A session's scans are counted when it has ended.
measure() {
  local before after took
  sql -c "UPDATE tp_worker SET seen_at = CAST(EXTRACT(EPOCH FROM statement_timestamp()) * 1000 AS bigint)"
  before=$(scans)
  took=$(for _ in 1 2 3; do milliseconds "$@"; done | sort -n | sed -n 2p)
  while [ "$(sql -c "SELECT COUNT(*) FROM pg_stat_activity WHERE usename = 'taskpool' AND datname = '$database'")" != 0 ]; do
    sleep 0.1
  done
  after=$(scans)
  printf '%6d ms %3d scans  taskpool %s\n' "$took" $((after - before)) "$*"
  if [ "$took" -gt 1000 ] || [ "$after" != "$before" ]; then bad=$((bad + 1)); fi
}

measure_all() {
  local open finished_one failed_one token since until pool words
  open=$(sql -c "SELECT id FROM tp_pending WHERE handler = 'handler-07' LIMIT 1")
  finished_one=$(sql -c "SELECT id FROM tp_finished LIMIT 1")
  failed_one=$(sql -c "SELECT id FROM tp_failed LIMIT 1")
  token=$(sql -c "SELECT token_tag FROM tp_worker LIMIT 1")
  since=$(date -u -d '-2 days' +%FT%TZ)
  until=$(date -u -d '-1 day' +%FT%TZ)
  for pool in pending failed finished all; do
    for words in "" "--handler handler-05" "--state failed" "--reason refused" "--reason-like nothing" "--biz-key C-100" "--id $open" \
      "--since $since" "--until $until" "--since $since --until $until --handler handler-39" "--worker $token"; do
      # shellcheck disable=SC2086 # several words
      measure list --pool $pool $words
    done
  done
  for words in "list --dedup-key D-99" "list --state handling" "list --pool finished --state skipped" \
    "failures" "failures --handler handler-05 --since $since" "failures --pool failed" \
    "show $open" "show $finished_one" "show $failed_one" "show --biz-key C-100" "workers" "workers --all" "top --once" "check" \
    "check --max-age 1h --max-wait 1m --max-failed 100" "metrics" "stats" "history" "history $failed_one" "schedule list" "retention" \
    "pause" "erase --biz-key C-100 --dry-run" "retry --handler handler-05 --dry-run" "retry --all --dry-run" "skip --all --dry-run" \
    "release --handler handler-07 --dry-run" "release --worker $token --dry-run"; do
    # shellcheck disable=SC2086 # several words
    measure $words
  done
  measure retry --reason-like 'host #.#.#.# order #: timeout' --dry-run
}

# looks: what the pages of the console ask for, each three times, of which the console may answer the later ones from the first: the
# longest is what counts. No more than 300 ms, and no scan.
look_all() {
  local url path one before took times log=$TP_SCRATCH/operators-console.log
  one=$(sql -c "SELECT id FROM tp_finished LIMIT 1") # a scan of ours
  before=$(scans)
  "$build_dir/taskpool-console" --listen 127.0.0.1:0 >"$log" &
  while ! url=$(grep -o 'http://[^ ]*' "$log"); do sleep 0.1; done
  sql -c "UPDATE tp_worker SET seen_at = CAST(EXTRACT(EPOCH FROM statement_timestamp()) * 1000 AS bigint)"
  curl -sf "${url}api/v1/pools/pool/overview" >/dev/null || die "the console does not answer"
  for path in overview failures activity "activity?since=$(date -u -d '-7 days' +%FT%TZ)" "activity?handler=handler-05" tasks "tasks?pool=all" \
    "tasks?pool=finished" "tasks?pool=failed" "tasks?pool=all&handler=handler-05" "tasks?pool=all&reason_like=nothing" "tasks?biz_key=C-100&pool=all" \
    "tasks?pool=all&since=$(date -u -d '-1 day' +%FT%TZ)" "tasks/$one" workers schedules history \
    "history?what=failed" "failures?handler=handler-05"; do
    times=$(for _ in 1 2 3; do curl -sf -o /dev/null -w '%{time_total}\n' "${url}api/v1/pools/pool/$path" || echo 99; done)
    took=$(sort -n <<<"$times" | awk 'END { printf "%d", $1 * 1000 }')
    printf '%6d ms            console %s\n' "$took" "$path"
    if [ "$took" -gt 300 ]; then bad=$((bad + 1)); fi
  done
  kill "$!" && wait "$!"
  while [ "$(sql -c "SELECT COUNT(*) FROM pg_stat_activity WHERE usename = 'taskpool' AND datname = '$database'")" != 0 ]; do sleep 0.1; done
  say "the console's looks scanned the finished pool $(($(scans) - before)) times"
  if [ "$(scans)" != "$before" ]; then bad=$((bad + 1)); fi
}

read_servers || die "no server was ever started: run tools/db_up.sh"
pg_bin=$(find_pg_bin) || die "PostgreSQL is missing: run tools/install_packages.sh test"
# shellcheck source=/dev/null
. "$TP_SCRATCH/env.sh"
export TASKPOOL_DSN="${TASKPOOL_TEST_DSN_POSTGRES%Database=*}Database=$database;"
make_programs taskpool taskpool-console
taskpool=$build_dir/taskpool
make_pool
look_all
[ -n "$only_looks" ] || measure_all
pg_sql -d postgres -c "DROP DATABASE $database"
say "$bad commands or looks took too long or scanned the finished pool"
[ $bad = 0 ]
