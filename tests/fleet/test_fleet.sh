#!/usr/bin/env bash
# test_fleet.sh TASKPOOL BUILD_DIR: version 0.1.0 and today's on one pool, on the database of TASKPOOL_DSN: on a pool that the one has
# installed, and on one of the other.
# That version is built from this repository's history into a folder of BUILD_DIR, once; whoever asks meanwhile waits. Exit code 77
# where the history does not have it.
set -euo pipefail
commit=20c74e12b57217bdff91ecc8d35e7aef632621b6 # of version 0.1.0
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
mkdir -p "$2"
folder=$(cd "$2" && pwd)/old-version/$commit
program=$folder/build/library/taskpool

if ! git -C "$root" cat-file -e "$commit^{commit}" 2>/dev/null; then
  missing="the sources of version 0.1.0 are not here: no commit $commit (a shallow clone, or no clone)"
  if [ "${TASKPOOL_TEST_REQUIRE:-0}" = 1 ]; then
    printf 'FAILED: %s\n' "$missing" >&2
    exit 1
  fi
  printf 'SKIPPED: %s\n' "$missing" >&2
  exit 77
fi

mkdir -p "$folder"
exec 9>"$folder/lock"
flock 9
if [ ! -e "$folder/built" ]; then
  git -C "$root" archive "$commit" | tar -x -C "$folder"
  if ! (cd "$folder" && cmake --preset library -DCMAKE_C_FLAGS_RELWITHDEBINFO=-O0 &&
    cmake --build --preset library --target taskpool --parallel "$(nproc)") >"$folder/log" 2>&1 9>&-; then
    printf 'FAILED: version 0.1.0 could not be built:\n' >&2
    tail -n 20 "$folder/log" >&2
    exit 1
  fi
  : >"$folder/built"
fi
here=$(dirname "$(realpath "$0")")
"$here/test_fleet.py" "$program" "$1" "$program"
"$here/test_fleet.py" "$1" "$1" "$program"
