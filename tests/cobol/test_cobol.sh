#!/usr/bin/env bash
# Programs in COBOL: what every call answers (COBTEST); a payroll run that is killed before and after its commit, or hears
# nothing of it, is stored once; a worker that is killed between payment and commit, or after it, pays once; so do two that are
# killed at random beside a worker in C.
# on_database.sh ENTRY test_cobol.sh BUILD_DIR
set -euo pipefail
build=$1
root=$(cd "$(dirname "$0")/../.." && pwd)
if [ ! -x "$build/tests/COBTEST" ]; then
  # Programs of cobc are not built for sanitizers.
  if [ "${TASKPOOL_TEST_REQUIRE:-0}" = 1 ]; then
    echo "FAILED: no COBOL program was built; install gnucobol" >&2
    exit 1
  fi
  echo "SKIPPED: no COBOL program was built: cobc of GnuCOBOL was not there"
  exit 77
fi
hex=$(od -An -N4 -tx4 /dev/urandom | tr -d ' ')
# The ledger of runs and the pool are the prefix's own; the table of payments is shared, so employees have numbers of their own.
some=${hex:0:6}
month=${hex:2:6}
export TASKPOOL_DSN="${TASKPOOL_TEST_DSN%;};Prefix=b${hex}_"
export LD_LIBRARY_PATH=$build
scratch=$(mktemp -d)
declare -A workers_in=()

finish() {
  if [ ${#workers_in[@]} != 0 ]; then kill -KILL "${workers_in[@]}" 2>/dev/null || true; fi
  rm -rf "$scratch"
}
trap finish EXIT
export SALARIES=$scratch/salaries
failed=0

expect() {
  if [ "$2" = "$3" ]; then
    echo "ok - $1"
  else
    echo "not ok - $1 is \"$2\", must be \"$3\""
    sed 's/^/    /' "$scratch/log" | head -5
    failed=1
  fi
}

# run HOW PROGRAM ARGUMENT: its first commit is as commit.c says for HOW; leaves $code and ./log.
run() {
  local how=$1
  shift
  code=0
  if [ "$how" = plainly ]; then
    timeout 300 "$@" >"$scratch/log" 2>&1 || code=$?
  else
    TASKPOOL_TEST_COMMIT=$how LD_PRELOAD=$build/tests/libcommit.so timeout 300 "$@" >"$scratch/log" 2>&1 || code=$?
  fi
}

count() {
  "$build/taskpool" list --json --pool "$1" --limit 1000 2>/dev/null | grep -c '"handler":"salary"' || true
}

paid() {
  "$build/tests/PAID" "$some" | awk '{ printf "%d %d %.2f", $1, $2, $3 }'
}

payruns() {
  run before "$build/examples/PAYRUN" "$month"
  expect "PAYRUN: killed before its commit" "$code $(count pending)" "137 0"
  run unanswered "$build/examples/PAYRUN" "$month"
  expect "PAYRUN: its commit got no answer" "$code $(count pending) $(grep -c 'was stored before' "$scratch/log")" "0 4 1"
  run after "$build/examples/PAYRUN" "${month}x"
  expect "PAYRUN: killed after its commit" "$code $(count pending)" "137 8"
  run plainly "$build/examples/PAYRUN" "${month}x"
  expect "PAYRUN: started again" "$code $(count pending) $(grep -c 'was stored before' "$scratch/log")" "0 8 1"
  printf "${some}%02d%11s\n" 1 1000.50 2 1000.50 3 1000.00 >"$SALARIES"
  run plainly "$build/examples/PAYRUN" "${month}x"
  expect "PAYRUN: half of a file that was stored before" "$code $(count pending) $(grep -c 'another number of tasks' "$scratch/log")" "1 8 1"
  : >"$SALARIES"
  run plainly "$build/examples/PAYRUN" "${month}z"
  expect "PAYRUN: an empty file" "$code $(count pending)" "1 8"
  run plainly "$build/examples/PAYRUN" "${month}xx"
  expect "PAYRUN: a month that is too long" "$code $(count pending)" "2 8"
  printf '%s09  1000.50 of which some is cut\n' "$some" >"$SALARIES"
  run plainly "$build/examples/PAYRUN" "${month}y"
  expect "PAYRUN: a file that it cannot read" "$code $(count pending)" "1 8"
}

workers() {
  run before "$build/examples/PAYWORK" drain
  expect "PAYWORK: killed between payment and commit" "$code $(paid)" "137 0 0 0.00"
  run after "$build/examples/PAYWORK" drain
  expect "PAYWORK: killed after the commit" "$code $(paid)" "137 1 1 1000.50"
  run undone "$build/examples/PAYWORK" drain
  expect "PAYWORK: a commit that got no answer and was not done" "$code $(count finished)" "0 7"
  "$build/taskpool" enqueue salary 1.00 --biz-key "${some}04" >/dev/null
  run unanswered "$build/examples/PAYWORK" drain
  expect "PAYWORK: a commit that got no answer" "$code $(count finished)" "0 8"
  expect "PAYWORK: its task was done once" "$(grep -c '^PAYWORK: ' "$scratch/log") $(grep '^paid' "$scratch/log")" "1 paid: 000000001"
  # The task of the one that was killed is its until the lease lapses; then it counts as a failure, and is tried again.
  expect "PAYWORK: what the killed one had" "$(count pending)" 1
  "$build/tests/advance" 61000
  run plainly "$build/examples/PAYWORK" drain
  expect "PAYWORK: after the lease" "$code $(count pending) $(count finished) $(count failed)" "0 0 9 0"
  expect "payments, employees, sum" "$(paid)" "9 4 8203.00"
}

poison() {
  "$build/taskpool" enqueue salary "many" --biz-key "${some}09" >/dev/null
  "$build/taskpool" enqueue salary "$(printf '%0100d' 1)" --biz-key "${some}10" >/dev/null
  run plainly "$build/examples/PAYWORK" drain
  expect "PAYWORK: params longer than its field" "$code $(count failed)" "0 1"
  expect "PAYWORK: params that are no number" "$("$build/taskpool" list --json | grep -c '"state":"failed".*no number as 12')" 1
  expect "nobody was paid for them" "$(paid)" "9 4 8203.00"
}

start_worker() {
  "${@:2}" >>"$scratch/crowd" 2>&1 &
  workers_in[$1]=$!
}

kill_worker() {
  kill -KILL "${workers_in[$1]}"
  wait "${workers_in[$1]}" 2>/dev/null || true
  unset "workers_in[$1]"
}

open_tasks() {
  "$build/taskpool" list --json --handler salary --limit 1000 2>/dev/null | grep -c "\"biz_key\":\"${some}[2-7]" || true
}

# Four times fifteen tasks, and each time one of the two is killed. The worker in C comes when the two have begun.
crowd() {
  local first victim tries
  start_worker A "$build/examples/PAYWORK"
  start_worker B "$build/examples/PAYWORK"
  for first in 20 35 50 65; do
    seq $first $((first + 14)) | sed "s/.*/$some&,10.25,1000/; 1i biz_key,params,max_failures" |
      "$build/taskpool" enqueue --file - --handler salary >/dev/null
    tries=0
    while [ "$(open_tasks)" = 15 ] && [ $((++tries)) -lt 3000 ]; do sleep 0.01; done
    if [ $first = 20 ]; then start_worker C "$build/tests/pay_worker"; fi
    victim=$([ $((first % 2)) = 0 ] && echo A || echo B)
    sleep "0.0$((RANDOM % 6))" # it is really killed, at any instruction
    kill_worker "$victim"
    start_worker "$victim" "$build/examples/PAYWORK"
  done
  tries=0
  while [ "$(open_tasks)" != 0 ] && [ $((++tries)) -lt 3000 ]; do
    "$build/tests/advance" 61000
    sleep 0.1
  done
  for victim in A B C; do kill_worker $victim; done
  cp "$scratch/crowd" "$scratch/log"
  expect "a crowd: payments, employees, sum" "$(paid)" "69 64 8818.00"
  echo "done by each process: $("$build/taskpool" list --json --pool finished --handler salary --limit 1000 |
    sed -n "s/.*\"biz_key\":\"${some}[2-7].*\"owner\":\"[^\"]*-\([^-\"]*\)\".*/\1/p" | sort | uniq -c | awk '{ printf "%s ", $1 }')"
}

# shipped WHAT: how often each step of the last task was done, and its result.
shipped() {
  expect "SHIPWORK: $1: steps done, result" "$code $("$build/tests/SHIPPED" "$ship")$("$build/taskpool" show --json "$ship" | grep -o 'label of order 7"' | sort -u)" "0 charge=1 label=1 mail=1 label of order 7\""
}

# Killed before or after the commit of each step and of the end, or its answer gets lost: each step is done once, in the same
# run where the program goes on, else in the next.
steps() {
  local how passed
  for passed in 0 1 2 3; do
    for how in before after unanswered undone; do
      ship=$("$build/taskpool" enqueue ship 7)
      TASKPOOL_TEST_PASSED=$passed run $how "$build/examples/SHIPWORK"
      if [ $how = before ] || [ $how = after ]; then
        expect "SHIPWORK: killed $how commit $passed" "$code" 137
        "$build/tests/advance" 61000
        run plainly "$build/examples/SHIPWORK"
      fi
      shipped "commit $passed, $how"
    done
  done
}

# Params that are longer than its field end their task, and not the program.
too_big() {
  "$build/taskpool" enqueue ship "$(printf '%0100d' 1)" --biz-key "${some}11" >/dev/null
  ship=$("$build/taskpool" enqueue ship 7)
  run plainly "$build/examples/SHIPWORK"
  shipped "behind params that are too long"
  expect "SHIPWORK: params longer than its field" \
    "$("$build/taskpool" list --json --pool failed --biz-key "${some}11" | grep -c '"reason":"params longer than SHIPWORK reads"')" 1
}

# What the first try gave is not stored with the end of the next, which gives nothing.
results() {
  local task
  task=$("$build/taskpool" enqueue again 7)
  run undone "$build/tests/AGAIN"
  expect "AGAIN: each answer" "$code $(<"$scratch/log")" "0 ok ok disconnected ok ok "
  expect "AGAIN: done, without the result of the first try" "$("$build/taskpool" show --json "$task" | grep -o '"state":"done"\|of the first try' | sort -u)" '"state":"done"'
}

# A driver that does not know how many rows were changed says -1, which is not 0.
counts() {
  run plainly "$build/tests/CHANGED"
  expect "CHANGED: no row" "$code $(<"$scratch/log")" "0 0"
  run plainly "$root/tools/driver/over.sh" "$build/tools/libtp_habits.so" Habits=no_counts:2 -- "$build/tests/CHANGED"
  expect "CHANGED: the driver does not know" "$code $(<"$scratch/log")" "0 -1"
}

lends() {
  SHOP_DSN=$TASKPOOL_TEST_DSN run plainly "$build/tests/BORROW"
  expect "BORROW: each answer" "$code $(<"$scratch/log")" "0 ok ok ok misuse misuse "
  expect "BORROW: the task of the commit alone" "$("$build/taskpool" list --json --handler lent | grep -o '"biz_key":"[^"]*"')" '"biz_key":"kept"'
}

printf "${some}%02d%11s\n" 1 1000.50 2 1000.50 3 1000.00 4 1100.00 >"$SALARIES"
payruns
workers
poison
crowd
steps
too_big
results
counts
lends
printf 'date\n2026-12-25\n' >"$scratch/days.csv"
for program in COBTEST COBFLOW; do
  export TASKPOOL_DSN="${TASKPOOL_TEST_DSN%;};Prefix=t${hex}_"
  if [ $program = COBFLOW ]; then "$build/taskpool" calendar import cob-bank "$scratch/days.csv" --cut-off 18:00 --from 2020-01-01 --to 2099-12-31; fi
  run plainly "$build/tests/$program"
  expect "$program: $(tail -n 1 "$scratch/log")" "$code" 0
done
[ $failed = 0 ]
