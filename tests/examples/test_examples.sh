#!/usr/bin/env bash
# The programs under examples/ do what they say, on any database: a legacy program puts tasks in by its own transaction, a
# worker does them and stops when told to, and an order that comes twice is taken once.
# on_database.sh ENTRY test_examples.sh BUILD_DIR LEGACY_LOST, the program of lost_commit.c
set -euo pipefail
build=$1
legacy_lost=$2
taskpool=$build/taskpool
examples=$build/examples
prefix=e$(od -An -N4 -tx4 /dev/urandom | tr -d ' ')_
export TASKPOOL_DSN="${TASKPOOL_TEST_DSN%;};Prefix=$prefix"
scratch=$(mktemp -d)
first=$((16#${prefix:1:7})) # the number of the first order: the table of orders is shared by all pools
worker=
failed=0

finish() {
  if [ -n "$worker" ]; then kill -KILL "$worker" 2>/dev/null || true; fi
  rm -rf "$scratch"
}
trap finish EXIT

expect() {
  if [ "$2" = "$3" ]; then
    echo "ok - $1"
  else
    echo "not ok - $1 is \"$2\", must be \"$3\""
    failed=1
  fi
}

count() {
  "$taskpool" list --json --pool "$1" --handler "$2" --limit 1000 | wc -l | tr -d ' '
}

# until WHAT COMMAND...: waits until the command succeeds, five minutes at most.
until_true() {
  local tries
  for ((tries = 0; tries < 3000; tries++)); do
    if "$@"; then return 0; fi
    sleep 0.1
  done
  return 1
}

said() {
  [ "$(grep -cE "$1" "$scratch/worker")" -ge "$2" ]
}

# What a shop's own connection string has on each database, as its administrator would write it.
shop_dsn() {
  case $TASKPOOL_TEST_ENTRY in
  *postgres) printf '%s;ConnSettings={set client_encoding to '\''UTF8'\''}' "${TASKPOOL_TEST_DSN%;}" ;;
  *mariadb | *mysql | oramode) printf '%s;OPTION=2' "${TASKPOOL_TEST_DSN%;}" ;;
  *) printf '%s' "${TASKPOOL_TEST_DSN%;}" ;;
  esac
}

# Does process $1 have the file $2 open?
has_open() {
  [ -n "$(find "/proc/$1/fd" -lname "$2" 2>/dev/null)" ]
}

# SIGTERM while a worker has only begun to begin: it waits for the database, which another process keeps to itself. Only SQLite
# lets all others wait so.
stops_while_it_begins() {
  local file=${TASKPOOL_TEST_DSN##*Database=} code=0
  file=${file%%;*}
  mkfifo "$scratch/writer"
  sqlite3 "$file" >"$scratch/locked" <"$scratch/writer" &
  exec 4>"$scratch/writer"
  printf "BEGIN EXCLUSIVE;\nSELECT 'locked';\n" >&4
  until_true grep -q locked "$scratch/locked" || true
  TASKPOOL_DSN="Timeout=300000;$TASKPOOL_DSN" "$examples/worker" >"$scratch/worker" 2>&1 4>&- &
  worker=$!
  until_true has_open "$worker" "$file" || expect "worker" "$(cat "$scratch/worker")" "opens the database"
  kill -TERM "$worker"
  exec 4>&-
  wait "$worker" || code=$?
  worker=
  expect "worker: its exit code after SIGTERM while it begins" "$code" 0
  expect "worker: what it said" "$(cat "$scratch/worker")" ""
  expect "worker: its task waits, no failure counted" \
    "$("$taskpool" list --handler points --json | grep -c '"state":"pending",.*"failures":0')" 1
}

legacy() {
  SHOP_DSN=$(shop_dsn) "$examples/legacy" "$@" 2>"$scratch/log"
}

# Its commit is as lost_commit.c says for $1.
lost_legacy() {
  SHOP_DSN=$(shop_dsn) TASKPOOL_TEST_COMMIT=$1 "$legacy_lost" "${@:2}" 2>"$scratch/log"
}

if [ -n "${TASKPOOL_TEST_PREPARE:-}" ]; then "$TASKPOOL_TEST_PREPARE" "$prefix"; fi
"$taskpool" schema install >/dev/null

expect "legacy: an order" "$(legacy "$first" book)" "order $first stored"
expect "legacy: an order that is cancelled" "$(legacy $((first + 1)) book cancel)" "order $((first + 1)) not stored"
expect "legacy: started again with its number" "$(legacy "$first" book)" "order $first not stored"
expect "tasks of the first order alone" "$(count pending points) $(count pending mail)" "1 1"
expect "their key" "$("$taskpool" list --handler mail --json | grep -o 'order-[0-9]*')" "order-$first"

if [ "$TASKPOOL_TEST_ENTRY" = sqlite ] && command -v sqlite3 >/dev/null; then
  stops_while_it_begins
elif [ "$TASKPOOL_TEST_ENTRY" = sqlite ]; then
  echo "ok - worker: SIGTERM while it begins # SKIPPED: needs sqlite3"
fi

"$taskpool" enqueue points 0 --biz-key nothing >/dev/null
"$taskpool" enqueue points many --biz-key wrong >/dev/null
"$examples/worker" >"$scratch/worker" 2>&1 &
worker=$!
if until_true said '^(done|skipped|ALERT) ' 3; then echo "ok - worker: three tasks ended"; else expect "worker" "$(cat "$scratch/worker")" "three tasks ended"; fi
kill -TERM "$worker"
code=0
wait "$worker" || code=$?
worker=
expect "worker: its exit code after SIGTERM" "$code" 0
expect "worker: what was granted" "$(grep -c "^done order-$first" "$scratch/worker")" 1
expect "worker: what was skipped" "$(grep '^skipped' "$scratch/worker")" "skipped nothing nothing to grant"

# The trace context of the producer comes back in the span of the handler's call; without one there is no span.
"$examples/traced" put 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01 100 || expect "traced: put" no yes
"$taskpool" enqueue traced-points 7 >/dev/null
"$examples/traced" work >"$scratch/spans" 2>"$scratch/points"
expect "traced: points" "$(sort -n "$scratch/points" | tr '\n' ' ')" "7 points 100 points "
expect "traced: its span" "$(sed 's/"spanId":"[0-9a-f]\{16\}"/SPAN/; s/"ms":[0-9]*/MS/' "$scratch/spans")" \
  '{"traceId":"0af7651916cd43dd8448eb211c80319c","parentSpanId":"b7ad6b7169203331",SPAN,"name":"traced-points",MS,"ok":true}'
expect "worker: what needs a person" "$(grep '^ALERT' "$scratch/worker")" "ALERT wrong the parameters must be a number of points"
expect "finished, failed, of another handler" "$(count finished points) $(count failed points) $(count pending mail)" "2 1 1"

# A process that dies between two steps: the next one goes on behind the last that is done.
"$taskpool" enqueue ship 7 >/dev/null
code=0
"$examples/steps" charge >"$scratch/steps" 2>&1 || code=$?
expect "steps: died" "$code" 1
expect "steps: what it did before" "$(tr '\n' '|' <"$scratch/steps")" "charge order 7|charge: receipt 4711|"
"$examples/steps" >"$scratch/steps" 2>&1 || expect "steps: its exit code" "$?" 0
expect "steps: what the next one did" "$(tr '\n' '|' <"$scratch/steps")" \
  "charge: receipt 4711|make label 1007|label: label 1007|mail: order 7 is on its way: receipt 4711, label 1007|"
expect "steps: finished, and its mail" "$(count finished ship) $(count pending mail)" "1 2"

# A loop without a worker: what was charged is not charged again by the next try.
order=$("$taskpool" enqueue order 7)
expect "loop: what it did" "$("$examples/loop" | tr '\n' '|')" "charge order 7|label with receipt of order 7|"
expect "loop: its result, done, and one mail" "$("$taskpool" show "$order" --json | grep -o '"result":"receipt of order 7"' | sort -u) $(count finished order) $(count pending charged)" \
  '"result":"receipt of order 7" 1 1'
expect "ordered: what it did" "$("$examples/ordered" | tr '\n' '|')" \
  "post: first|post: second|transfer: 1 2|transfer: 3|report: nothing is due|pay: 1 2|report: all are paid|the business day after\
 Christmas Eve is 2030-12-26|letter: nothing is due|letter: now after all|the refund is skipped|refund: nothing is due|"
expect "ordered: a payment waits for its cut-off" "$(count pending payment)" 1

# A result that is waited for.
"$examples/results" work >"$scratch/results" 2>&1 &
worker=$!
expect "results: a quote" "$("$examples/results" 12)" '{"pieces": 12, "cents": 14934}'
expect "results: by the command" "$("$taskpool" enqueue quote 1 --wait=10m 2>/dev/null)" '{"pieces": 1, "cents": 1250}'
expect "results: none" "$("$examples/results" 0)" "no quote: a quote needs a number of pieces"
kill "$worker"
wait "$worker" || expect "results: the worker's exit code" "$?" 0
worker=

code=0
result=$(TASKPOOL_RESULT_FD=1 sh "$(dirname "$0")/../../examples/quote.sh" <<<3 2>"$scratch/log") || code=$?
expect "quote.sh: it ends where it cannot say how far it is" "$((code != 0)) $result" "1 "

expect "once: sent twice, taken once" "$("$examples/once" 7 8 7 | sort | tr '\n' '|')" \
  "2 shipped|order 7 taken|order 7 was taken before|order 8 taken|shipping 7|shipping 8|"
expect "once: sent again" "$("$examples/once" 8)" $'order 8 was taken before\n0 shipped'
code=0
TASKPOOL_DSN='Driver=none' "$examples/once" 7 >"$scratch/log" 2>&1 || code=$?
expect "once: its exit code without a database" "$code" 1

# A commit without an answer: it is asked for, and the order's row and tasks are there once.
number=$((first + 2))
for how in unanswered undone; do
  expect "legacy: a commit without an answer, $how" "$(lost_legacy $how $number book)" "order $number stored"
  expect "legacy: its tasks, $how" "$("$taskpool" list --biz-key "order-$number" --json | wc -l | tr -d ' ')" 2
  expect "legacy: started again, $how" "$(legacy $number book)" "order $number not stored"
  number=$((number + 1))
done
[ $failed = 0 ]
