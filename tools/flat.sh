#!/usr/bin/env bash
# What one claim of a hundred tasks, and what is done with them, costs each database while the pool around them grows:
# rows and buffers as the database itself counts them. Prints a table with ratios; tools/flat/fill.h says what the scenes
# are.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

usage() {
  cat <<END
usage: tools/flat.sh [--large] [--only-bad] [--bar N] [--entries NAME,...] [--scenes NAME,...] [--plans NAME,...]
                     [--sizes N,...] [--chores 0|1]
       tools/flat.sh --held [--minutes N] [--plan NAME] [--tasks N]
  --large     up to ten million tasks instead of one million; takes hours and tens of gigabytes
  --only-bad  only what is not flat against the bar (1.2)
  --entries   of sqlite, postgres, mariadb, mysql, oramode (default: the first three)
  --chores 0  claims and settles only
  --held      on PostgreSQL and MariaDB: a steady load with and without a session that holds an old snapshot
The databases are those of tools/db_up.sh; nobody else may use them meanwhile. Results are kept under
\$TP_SCRATCH/flat. Exit code 1: something is not flat, or less than 0.7 of the speed is kept.
END
}

on_database=$TP_ROOT/tests/support/on_database.sh
entries=sqlite,postgres,mariadb
given='' sizes=10000,100000,1000000
held=no
measure=() table=()

while [ $# -gt 0 ]; do
  case $1 in
    --help) usage && exit 0 ;;
    --large) sizes=10000,100000,1000000,10000000 && shift ;;
    --only-bad) table+=("$1") && shift ;;
    --held) held=yes && shift ;;
    --bar) table+=("$1" "${2:?--bar takes a number}") && shift 2 ;;
    --entries) given=${2:?--entries takes names} && shift 2 ;;
    --sizes) sizes=${2:?--sizes takes numbers} && shift 2 ;;
    --scenes | --plans | --chores | --minutes | --plan | --tasks) measure+=("$1" "${2:?$1 takes a value}") && shift 2 ;;
    *) usage >&2 && exit 2 ;;
  esac
done
if [ "$held" = yes ]; then entries=postgres,mariadb; fi

make_programs flat held
mkdir -p "$TP_SCRATCH/flat"
failed=0
for entry in $(tr , ' ' <<<"${given:-$entries}"); do
  if [ "$held" = yes ]; then
    "$on_database" "$entry" "$build_dir/tools/held" "${measure[@]}" || failed=1
    continue
  fi
  kept=$TP_SCRATCH/flat/$entry.tsv
  "$on_database" "$entry" "$build_dir/tools/flat" --sizes "$sizes" "${measure[@]}" >"$kept" || failed=1
  "$TP_ROOT/tools/flat/table.py" "${table[@]}" <"$kept" || failed=1
done
exit $failed
