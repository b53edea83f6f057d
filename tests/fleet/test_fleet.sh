#!/usr/bin/env bash
# test_fleet.sh TASKPOOL BUILD_DIR: version 0.1.0 and today's on one pool, on the database of TASKPOOL_DSN: on a pool that the one has
# installed, and on one of the other.
set -euo pipefail
here=$(dirname "$(realpath "$0")")
before=$("$here/old_version.sh" "$2")
"$here/test_fleet.py" "$before" "$1" "$before"
"$here/test_fleet.py" "$1" "$1" "$before"
