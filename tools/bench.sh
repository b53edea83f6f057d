#!/usr/bin/env bash
# Measures taskpool beside what the database itself can do, and beside rivals, and writes docs/performance.md. tools/bench/ has the
# parts: cases.py says what is measured beside what, measure.py how.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

case " $* " in
  *" --help "* | *" -h "* | *" --plots-only "*) ;;
  *)
    make_programs bench_programs
    mkdir -p "$TP_SCRATCH"
    ;;
esac
exec python3 -B "$TP_ROOT/tools/bench/main.py" --build "$build_dir" --scratch "$TP_SCRATCH" "$@"
