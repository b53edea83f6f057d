#!/usr/bin/env bash
# test_cost.sh BUILD_DIR: the case cost of tools/bench.sh with a few tasks on SQLite: taskpool and raw have figures of each measure, and
# the instructions of the library are a part of all.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
missing=
[ -x "$1/tools/raw_sqlite" ] || missing='raw_sqlite is not built, libsqlite3-dev is missing'
command -v callgrind_annotate >/dev/null || missing='valgrind is missing'
command -v gnuplot >/dev/null || missing='gnuplot is missing'
if [ -n "$missing" ]; then
  if [ "${TASKPOOL_TEST_REQUIRE:-0}" = 1 ]; then
    echo "FAILED: $missing"
    exit 1
  fi
  echo "SKIPPED: $missing"
  exit 77
fi
TASKPOOL_BUILD=$1 TP_SCRATCH=$scratch "$root/tools/bench.sh" compare --only sqlite --cases cost --rounds 1 --tasks 200 --out "$scratch/out" \
  >"$scratch/log" 2>&1 || { cat "$scratch/log" && exit 1; }
python3 - "$scratch/out/sqlite.json" <<'END'
import json
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    figures = json.load(file)["figures"]
found = sorted((one["measure"], one["subject"]) for one in figures)
assert found == sorted((measure, subject) for measure in ("enqueue", "lease", "hold", "one") for subject in ("taskpool", "raw")), found
for one in figures:
    assert one["instructions"] > 10000 and one["statements"] > 0, one
    if one["subject"] == "taskpool":
        assert 500 < one["library"] < one["instructions"] / 2 and one["odbc_calls"] > 0, one
print("1 passed, 0 failed")
END
