#!/usr/bin/env bash
# Ends the servers that cluster_up.sh started, and no others, and removes their data.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=cluster_lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/cluster_lib.sh"

gone() {
  [ -z "$("${kind}_pid" "$1")" ]
}

case ${1:-} in
  "") ;;
  --help | -h)
    echo "usage: tools/cluster_down.sh: ends the cluster of \$TP_SCRATCH and removes its data; harmless when there is none"
    exit 0
    ;;
  *)
    complain "unknown argument: $1"
    exit 2
    ;;
esac
if ! read_cluster; then
  say "no cluster was started from $TP_SCRATCH"
  exit 0
fi
exec 9>"$TP_SCRATCH/lock"
flock -w 180 9 || die "another cluster_up.sh or cluster_down.sh is at work on $TP_SCRATCH"
for node in $("${kind}_nodes"); do
  "${kind}_node" "$node"
  pid=$("${kind}_pid" "$node") || continue
  kill "-$node_end" "$pid" # nobody wants the data
  await "the end of node $node" 60 gone "$node"
done
rm -rf "$TP_BASE" "$TP_SCRATCH/cluster" "$TP_SCRATCH/cluster.sh"
say "$TP_CLUSTER: stopped, data removed"
