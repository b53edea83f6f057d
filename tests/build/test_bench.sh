#!/usr/bin/env bash
# test_bench.sh BUILD_DIR: tools/bench.sh compare with a few tasks on SQLite: every program gives a figure, the figures are stored, the page
# gets its tables and keeps its prose, and what cannot be measured is said loudly.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export TASKPOOL_BUILD=$1 TP_SCRATCH=$scratch
out=$scratch/out
page=$out.md

fail() {
  printf 'FAILED: %s\n' "$*" >&2
  cat "$scratch/log" >&2
  exit 1
}

missing=
[ -x "$1/tools/raw_sqlite" ] || missing='raw_sqlite is not built, libsqlite3-dev is missing'
command -v gnuplot >/dev/null || missing='gnuplot is missing'
if [ -n "$missing" ]; then
  if [ "${TASKPOOL_TEST_REQUIRE:-0}" = 1 ]; then
    printf 'FAILED: %s\n' "$missing" >&2
    exit 1
  fi
  printf 'SKIPPED: %s\n' "$missing"
  exit 77
fi

bench() {
  "$root/tools/bench.sh" compare --only sqlite --rounds 1 --tasks 40 --out "$out" "$@" >"$scratch/log" 2>&1
}

make_page() {
  "$root/tools/bench.sh" page --out "$out" >"$scratch/log" 2>&1
}

# ---- Everything is measured, stored, tabled and drawn --------------------------------------------------------------------------
printf '# A page\n\nProse that stays.\n\n<!-- bars: made by tools/bench.sh -->\nan old table\n<!-- end of bars -->\n\nThe end.\n' >"$page"
bench --cases batched,single,payload || fail "tools/bench.sh compare ended with $?"
for figure in '"enqueue", "subject": "taskpool"' '"enqueue", "subject": "raw"' '"lease", "subject": "taskpool"' \
  '"lease", "subject": "raw"' '"hold", "subject": "taskpool"' '"hold", "subject": "raw"' '"one", "subject": "taskpool"' \
  '"one", "subject": "raw"' '"row", "subject": "taskpool"'; do
  grep -qF "\"measure\": $figure" "$out/sqlite.json" || fail "no figure of $figure"
done
grep -q 'Prose that stays' "$page" || fail "the page's prose is gone"
! grep -q 'an old table' "$page" || fail "the old table is still there"
[ "$(sed -n '/bars: made/,/end of bars/p' "$page" | grep -c '| SQLite |')" = 4 ] || fail "not every bar has its row"
! grep -q 'not measured\*\*' "$page" || fail "something was not measured"
grep -q '</svg>' "$out/sqlite-throughput.svg" || fail "no plot"

# ---- Page and plots come again from what is stored -----------------------------------------------------------------------------
cp "$page" "$scratch/before.md"
rm "$out/sqlite-throughput.svg"
make_page || fail "page ended with $?"
cmp -s "$page" "$scratch/before.md" || fail "the second page is another"
grep -q '</svg>' "$out/sqlite-throughput.svg" || fail "no second plot"

# ---- What cannot be measured is said, and the rest is measured ---------------------------------------------------------------
mkdir "$scratch/build"
ln -s "$1/taskpool" "$scratch/build/taskpool" # which starts the one beside the file that it leads to
code=0
TASKPOOL_BUILD=$scratch/build bench --cases batched || code=$?
[ "$code" = 1 ] || fail "without the raw program it ended with $code, not 1"
grep -q 'raw hold: NOT MEASURED: tools/raw_sqlite is not built' "$scratch/log" || fail "nobody was told that raw is not measured"
grep -q 'raw hold: \*\*not measured\*\*: tools/raw_sqlite is not built, libsqlite3-dev was missing' "$page" ||
  fail "the page does not say why raw is not measured"
grep -q '^| SQLite | run, plan hold.* | not measured: tools/raw_sqlite is not built, libsqlite3-dev was missing' "$page" ||
  fail "nor does the table"
grep -q "^| SQLite | not measured: its case was not asked for |" "$page" ||
  fail "the page does not say why processes are not measured"
grep -q '"measure": "one"' "$out/sqlite.json" || fail "figures of other cases are gone"

code=0
bench --cases nonsense || code=$?
[ "$code" = 2 ] || fail "an unknown case ended with $code, not 2"
echo "1 passed, 0 failed"
