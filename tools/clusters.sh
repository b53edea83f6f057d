#!/usr/bin/env bash
# Kills nodes of clusters under producers and workers, and judges whether anything was lost or done twice.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

case " $* " in
  *" --help "*) ;;
  *) make_programs soak taskpool ;;
esac
exec python3 -B "$TP_ROOT/tools/soak/clusters.py" --build "$build_dir" "$@"
