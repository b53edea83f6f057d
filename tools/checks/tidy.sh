#!/usr/bin/env bash
# Runs clang-tidy with .clang-tidy over the library and the program, with the flags of the release build,
# which may be gcc's.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
database=build/release

if [ ! -f "$database/compile_commands.json" ]; then
  echo "there is no $database/compile_commands.json: run cmake --preset release first" >&2
  exit 1
fi
log=$(mktemp)
trap 'rm -f "$log"' EXIT
code=0
find src dialects -name '*.c' -print0 |
  xargs -0r -n 1 -P "$(nproc)" clang-tidy --quiet -p "$database" \
    --extra-arg=-Wno-unknown-warning-option >"$log" 2>&1 || code=1
# What remains is the findings; the counts of suppressed ones in system headers say nothing.
grep -vE '^[0-9]+ warnings? (generated|treated)|^Suppressed |^Use -header-filter' "$log" || true
exit $code
