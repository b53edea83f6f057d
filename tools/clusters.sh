#!/usr/bin/env bash
# Kills nodes of clusters under producers and workers, and judges whether anything was lost or done twice.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

build_dir=${TASKPOOL_BUILD:-$TP_ROOT/build/release} # TASKPOOL_BUILD: a build that is there, to be used as it is
case " $* " in
  *" --help "*) ;;
  *)
    if [ -z "${TASKPOOL_BUILD:-}" ]; then
      log=$(mktemp)
      { [ -f "$build_dir/build.ninja" ] || (cd "$TP_ROOT" && cmake --preset release) &&
        cmake --build "$build_dir" --target soak taskpool; } >"$log" 2>&1 ||
        { tail -n 20 "$log" >&2 && die "the build failed; all its output is in $log"; }
      rm -f "$log"
    fi
    ;;
esac
exec python3 -B "$TP_ROOT/tools/soak/clusters.py" --build "$build_dir" "$@"
