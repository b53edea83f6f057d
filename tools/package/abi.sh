#!/usr/bin/env bash
# Compares the library with that of the last release, as compilers see it: what a program of that release calls must be there, with the
# same types; structs may have grown at their end. Symbols have versions by now, programs find them all the same.
# usage: abi.sh [LIBRARY]   (default: build/release/libtaskpool.so, with debugging information)
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=../lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
library=${1:-$TP_ROOT/build/release/libtaskpool.so}
cd "$TP_ROOT"
last=$(find tests/abi -name 'libtaskpool.abi.xz' | sort -V | tail -n 1)

skip() {
  complain "SKIPPED: $1"
  exit 77
}

if ! command -v abidiff >/dev/null; then
  skip "abidiff is not here (tools/install_packages.sh packages)"
fi
[ "$(uname -m)" = x86_64 ] || skip "what is kept of the last release is that of x86-64"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
xz -dc "$last" >"$scratch/last.abi"
abidw --headers-dir include --drop-private-types --no-corpus-path --no-comp-dir-path --no-show-locs --no-elf-needed "$library" |
  sed -E "s/ version='TASKPOOL_[0-9.]+' is-default-version='yes'//; s/@@TASKPOOL_[0-9.]+'/'/" >"$scratch/now.abi"
grep -q "elf-symbol name='tp_version'" "$scratch/now.abi" || die "abidw has read nothing of $library"
grep -q "<function-decl name='tp_enqueue'" "$scratch/now.abi" || die "$library has no debugging information"

# With added functions alone the answer is 4.
code=0
abidiff --no-added-syms --suppressions tests/abi/grows.suppr "$scratch/last.abi" "$scratch/now.abi" >"$scratch/report" || code=$?
if [ $code != 0 ]; then
  cat "$scratch/report"
  die "ABI: a program built with ${last#tests/abi/} may not run with this library"
fi
# It would have seen a change: the same without one function and with a struct that is shorter.
sed "/elf-symbol name='tp_enqueue'/d; /<function-decl name='tp_enqueue'/,/<\/function-decl>/d" "$scratch/now.abi" >"$scratch/less.abi"
if abidiff --no-added-syms "$scratch/last.abi" "$scratch/less.abi" >/dev/null; then
  die "abidiff does not see that a function is gone"
fi
say "ABI: as in $(basename "$(dirname "$last")"), or more"
