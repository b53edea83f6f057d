#!/usr/bin/env bash
# Lets faults loose on producers and workers of every database here, for a time and by a seed, and judges whether
# anything was lost or done twice. tools/soak/README.md says what is where.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

case " $* " in
  *" --help "* | *" --list "*) ;;
  *) make_programs soak taskpool ;;
esac
exec python3 -B "$TP_ROOT/tools/soak/main.py" --build "$build_dir" "$@"
