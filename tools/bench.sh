#!/usr/bin/env bash
# Everything that is measured, by part: what a task costs and rates beside raw SQL and rivals (compare), what a claim reads as a
# pool grows (growth), what order keys, gates and groups cost (gates), a load under an old snapshot (snapshot), and the page that shows it, docs/performance.md (page). tools/bench/
# has the parts: main.py reads the command line, measure/ and raw/ are the programs.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

case " $* " in
  *" --help "* | *" -h "* | " page "*) ;;
  *)
    make_programs bench_programs
    mkdir -p "$TP_SCRATCH"
    ;;
esac
exec python3 -B "$TP_ROOT/tools/bench/main.py" --build "$build_dir" --scratch "$TP_SCRATCH" "$@"
