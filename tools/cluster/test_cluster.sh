#!/usr/bin/env bash
# test_cluster.sh KIND BUILD: a cluster of its own under producers and workers, of which one node is killed and brought back; the doctor says
# what it is. Skipped where a package is missing. All plans: tools/proof.sh clusters.
set -euo pipefail
TASKPOOL_BUILD=${2:?usage: test_cluster.sh KIND BUILD} exec "$(dirname "${BASH_SOURCE[0]}")/../clusters.sh" "$1" --plans skip --kills 1 --pace 150
