#!/usr/bin/env bash
# A partitioned pool does what any pool does: the conformance suite runs over it, and with the word "whole" the payroll; rows are in
# the partitions where they belong; a month is dropped.
# on_database.sh ENTRY test_partitions.sh BUILD_DIR [whole]
set -euo pipefail
build=$1 whole=${2:-}
set --
# shellcheck source-path=SCRIPTDIR source=prepare.sh
. "$(dirname "${BASH_SOURCE[0]}")/prepare.sh"
failed=0
log=$(mktemp)

expect() {
  if [ "$2" = "$3" ]; then
    echo "ok - $1"
  else
    echo "not ok - $1 is \"$2\", must be \"$3\""
    failed=1
  fi
}

attempt() {
  local what=$1
  shift
  if "$@" >"$log" 2>&1; then
    echo "ok - $what"
  else
    echo "not ok - $what"
    grep -vE '^\[ +(RUN|OK)' "$log" | tail -n 60
    failed=1
  fi
}

random_prefix() {
  prefix=$1$(od -An -N4 -tx4 /dev/urandom | tr -d ' ')_
}

# The default plan; with "whole" also what claims by the others. Each run takes its tables away.
conformance() {
  local part parts=('[skip]*' '[any plan] test_enqueue*')
  [ -z "$whole" ] || parts+=('[row] test_claim*' '[batch] test_claim*')
  for part in "${parts[@]}"; do
    random_prefix pc
    make_partitioned_pool "$prefix"
    attempt "conformance over a partitioned pool: $part" env TASKPOOL_TEST_PREFIX="$prefix" \
      timeout 1500 "$build/tests/conformance" --only "$part"
  done
}

payroll() {
  local dsn_file
  dsn_file=$(mktemp)
  printf '%s\n' "$TASKPOOL_TEST_DSN" >"$dsn_file"
  attempt "the payroll over a partitioned pool" env TASKPOOL_BUILD="$build" "$root/tools/demo.sh" --dsn-file "$dsn_file" \
    --prepare "$root/tests/partitions/prepare.sh"
  rm -f "$dsn_file"
}

# rows TABLE PARTITION: how many are there. On MySQL handlers have no partitions of their own.
rows() {
  if [ "$TASKPOOL_TEST_ENTRY $1" = "mysql pending" ]; then
    echo "SELECT COUNT(*) FROM tp_pending WHERE (handler = 'pay') = ('$2' = 'pay');" | run
  elif [ $dialect = postgres ]; then
    echo "SELECT COUNT(*) FROM tp_$1_$2;" | run
  else
    echo "SELECT COUNT(*) FROM tp_$1 PARTITION ($2);" | run
  fi
}

drop_month() {
  if [ $dialect = postgres ]; then
    echo "DROP TABLE tp_finished_$1;" | run
  else
    echo "ALTER TABLE tp_finished DROP PARTITION p$1;" | run
  fi
}

# A handler for which there is no partition, where that can be.
a_missing_partition_is_an_error() {
  [ "$TASKPOOL_TEST_ENTRY" != mysql ] || return 0
  local table=pending_others
  echo "DELETE FROM tp_pending;" | run
  if [ $dialect = postgres ]; then echo "DROP TABLE tp_$table;" | run; else
    echo "ALTER TABLE tp_pending DROP PARTITION others;" | run
  fi
  for way in "" "--dedup-key m" "--id 0191aaaa-bbbb-7000-8000-0000000000bb"; do
    # shellcheck disable=SC2086
    expect "a task without a partition ($way)" \
      "$("$taskpool" enqueue mail 5 $way 2>&1 >/dev/null | grep -ciE 'partition')" 1
  done
  expect "tasks, when those without a partition were refused" "$(echo "SELECT COUNT(*) FROM tp_pending;" | run)" 0
  attempt "a task that has its partition goes in" "$taskpool" enqueue pay 6
}

partitions_hold_their_rows() {
  local month taskpool=$build/taskpool
  random_prefix pt
  make_partitioned_pool "$prefix"
  export TASKPOOL_DSN="${TASKPOOL_TEST_DSN%;};Prefix=$prefix"
  "$taskpool" schema install >/dev/null
  attempt "version 2 over partitions" "$taskpool" schema check
  "$taskpool" enqueue pay 1 >/dev/null
  "$taskpool" enqueue mail 1 >/dev/null
  expect "tasks of pay in its own partition" "$(rows pending pay)" 1
  expect "others" "$(rows pending others)" 1
  attempt "work of pay" "$taskpool" work --drain --handler pay=true
  expect "a task of mail's at the same place of its partition" "$(echo "SELECT state FROM tp_pending WHERE handler = 'mail';" | run)" pending
  expect "one open task per key and handler" \
    "$("$taskpool" enqueue pay 2 --dedup-key k | wc -l) $("$taskpool" enqueue pay 3 --dedup-key k 2>/dev/null | wc -l)" "1 0"
  "$taskpool" enqueue pay 4 --id 0191aaaa-bbbb-7000-8000-0000000000aa >/dev/null
  expect "an id of pay's is refused for mail" \
    "$("$taskpool" enqueue mail 4 --id 0191aaaa-bbbb-7000-8000-0000000000aa 2>&1 | grep -c 'with another handler')" 1
  expect "tasks of mail, when an id of pay's was put in under it" "$(rows pending others)" 1
  attempt "work" "$taskpool" work --drain --handler pay=true --handler mail=true
  month=$(date -u +%Y%m)
  if [ $dialect = postgres ]; then expect "tasks finished this month" "$(rows finished "$month")" 4; else
    expect "tasks finished this month" "$(rows finished "p$month")" 4
  fi
  attempt "check" "$taskpool" check --rows
  drop_month "$month"
  expect "finished tasks after the month was dropped" "$("$taskpool" list --pool finished --json | wc -l)" 0
  attempt "the pool goes on" "$taskpool" enqueue pay 4
  a_missing_partition_is_an_error
  run <"$root/sql/$dialect/admin/drop.sql"
}

partitions_hold_their_rows
[ -z "$whole" ] || payroll
conformance
rm -f "$log"
[ $failed = 0 ]
