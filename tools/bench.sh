#!/usr/bin/env bash
# Measures taskpool beside what the database itself can do, and beside rivals, and writes docs/performance.md. tools/bench/ has the
# parts: cases.py says what is measured beside what, measure.py how.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

build_dir=${TASKPOOL_BUILD:-$TP_ROOT/build/release} # TASKPOOL_BUILD: a build that is there, to be used as it is
case " $* " in
  *" --help "* | *" -h "* | *" --plots-only "*) ;;
  *)
    if [ -z "${TASKPOOL_BUILD:-}" ]; then
      log=$(mktemp)
      { { [ -f "$build_dir/build.ninja" ] || (cd "$TP_ROOT" && cmake --preset release); } &&
        cmake --build "$build_dir" --target bench_programs; } >"$log" 2>&1 ||
        { tail -n 20 "$log" >&2 && die "the build failed; all its output is in $log"; }
      rm -f "$log"
    fi
    mkdir -p "$TP_SCRATCH"
    ;;
esac
exec python3 -B "$TP_ROOT/tools/bench/main.py" --build "$build_dir" --scratch "$TP_SCRATCH" "$@"
