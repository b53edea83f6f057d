#!/usr/bin/env bash
# Runs the worker's tests over SQLite under valgrind, which ThreadSanitizer and AddressSanitizer do not replace: helgrind
# sees the drivers' locks too, memcheck what was never written. Takes minutes, so it is no part of tools/test.sh.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

usage() {
  cat <<END
usage: tools/valgrind.sh [PATTERN | --help]
Needs the release build (cmake --preset release). PATTERN chooses tests of tests/worker/test_worker_tasks.c, as
'*lease*'; all when there is none.
END
}

# Tests of short times may fail under valgrind, which is slow; its own verdict counts (9), and that tests were run to their end.
run() {
  local code=0 log
  log=$(mktemp)
  TASKPOOL_TEST_FILTER=$pattern tests/support/on_database.sh sqlite valgrind --quiet --error-exitcode=9 "$@" \
    build/release/tests/test_worker_tasks >"$log" 2>&1 || code=$?
  cat "$log"
  if [ $code = 9 ] || [ $code -ge 126 ] || ! grep -q '^\[==========\] [1-9][0-9]* test(s) run' "$log"; then
    rm -f "$log"
    return 1
  fi
  rm -f "$log"
}

case ${1:-} in
  --help | -h)
    usage
    exit 0
    ;;
esac
pattern=${1:-*}
[ -x build/release/tests/test_worker_tasks ] || {
  usage >&2
  exit 2
}
run --tool=helgrind --history-level=approx --suppressions=tools/sanitize/helgrind.supp
run --leak-check=full --errors-for-leak-kinds=definite
