#!/usr/bin/env bash
# The main job for real on one database: tools/demo.sh with the build that is being tested.
# test_payroll.sh BUILD_DIR, with TASKPOOL_TEST_DSN and TASKPOOL_TEST_ENTRY set.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
dsn_file=$(mktemp)
trap 'rm -f "$dsn_file"' EXIT
printf '%s\n' "$TASKPOOL_TEST_DSN" >"$dsn_file"
prepare=()
if [ -n "${TASKPOOL_TEST_PREPARE:-}" ]; then
  prepare=(--prepare "$TASKPOOL_TEST_PREPARE")
fi
TASKPOOL_BUILD=$1 "$root/tools/demo.sh" --dsn-file "$dsn_file" "${prepare[@]}"
