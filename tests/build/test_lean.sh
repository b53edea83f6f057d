#!/usr/bin/env bash
# test_lean.sh BUILD_DIR: tools/lean.sh with a few tasks on SQLite: every phase has its line, and the instructions of the library are a
# part of all.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
if ! command -v callgrind_annotate >/dev/null; then
  if [ "${TASKPOOL_TEST_REQUIRE:-0}" = 1 ]; then
    echo 'FAILED: valgrind is missing'
    exit 1
  fi
  echo 'SKIPPED: valgrind is missing'
  exit 77
fi
TASKPOOL_LEAN_TASKS=100 "$root/tools/lean.sh" "$1" sqlite |
  awk 'NR > 1 { lines++; print; if ($4 < 500 || $4 > $3 / 2 || $5 <= 0) wrong++ }
    END { if (lines != 6 || wrong) { print "FAILED: " lines " lines, " wrong + 0 " wrong"; exit 1 }; print "1 passed, 0 failed" }'
