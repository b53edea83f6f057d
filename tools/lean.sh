#!/usr/bin/env bash
# tools/lean.sh BUILD [ENTRY]: what the client costs a task: instructions (callgrind, the driver's and the driver
# manager's within, a database's own only where it is in the process: SQLite), ODBC calls, statements, round trips.
# The same at any load, but for what a server's answers change. TASKPOOL_LEAN_OUT: where callgrind's files are kept.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
if [ $# -lt 1 ]; then
  sed -n '2,4s/^# //p' "$0" >&2
  exit 2
fi
build=$1
entry=${2:-sqlite}
tasks=${TASKPOOL_LEAN_TASKS:-2000}
out=${TASKPOOL_LEAN_OUT:-$(mktemp -d)}
if [ -z "${TASKPOOL_LEAN_OUT:-}" ]; then trap 'rm -rf "$out"' EXIT; fi
mkdir -p "$out"

# measure FILE COMMAND...: instructions within work(), all and in the library itself; then what the command printed.
measure() {
  local file=$1
  shift
  rm -f "$file"
  "$root/tests/support/on_database.sh" "$entry" valgrind --tool=callgrind --collect-atstart=no --toggle-collect=work \
    --callgrind-out-file="$file" "$@" 2>"$file.log" >"$file.said" || { cat "$file.log" >&2 && exit 1; }
  awk '/^(summary|totals):/ { print $2; exit }' "$file"
}

printf '%-8s %6s %14s %14s %12s %12s %12s\n' phase group instructions of_the_library odbc_calls statements round_trips
for group in 100 500; do
  for phase in enqueue lease hold; do
    file=$out/$entry.$phase.$group
    all=$(measure "$file" "$build/tools/lean" "$phase" "$tasks" "$group")
    # Without the sources, whose lines would count again what they call.
    own=$(callgrind_annotate --auto=no --threshold=100 "$file" |
      awk '/\[.*\/tools\/lean\]$/ && !/tools\/lean\/lean\.c:/ { gsub(",", "", $1); sum += $1 } END { print sum + 0 }')
    counts=$(sed -n 's/.*odbc_calls=\([^ ]*\) statements=\([^ ]*\) round_trips=\([^ ]*\).*/\1 \2 \3/p' "$file.said")
    read -r calls statements trips <<<"$counts"
    printf '%-8s %6s %14d %14d %12s %12s %12s\n' "$phase" "$group" $((all / tasks)) $((own / tasks)) \
      "$calls" "$statements" "$trips"
  done
done
