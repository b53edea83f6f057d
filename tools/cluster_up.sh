#!/usr/bin/env bash
# Starts a cluster of database servers on loopback, from the distribution's packages, with the ports, password and data of its first
# start; or one node of it again. Writes $TP_SCRATCH/cluster.sh with the connection strings. cluster_down.sh stops it and removes its data.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=cluster_lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/cluster_lib.sh"

usage() {
  cat <<END
usage: tools/cluster_up.sh KIND | --node N | --promote N | --help
  galera        MariaDB with Galera, three nodes that all take writes
  group         MySQL with Group Replication, three nodes of which one takes writes
  streaming     PostgreSQL, a primary (node 1) and a standby (2) that each commit waits for
  asynchronous  the same, but no commit waits for the standby
  pgbouncer     PostgreSQL (node 1) behind PgBouncer (2) in transaction mode
  --node N      starts node N of the cluster that is there; one that another has taken the place of comes back as its copy
  --promote N   streaming, asynchronous: the standby N takes writes from now on
Data are in the memory of the machine ($memory_folder) where that has room. One cluster in each \$TP_SCRATCH (default .scratch in the
repository). Exit code 3: a package is missing; tools/install_packages.sh test installs it.
END
}

# ---- First start -------------------------------------------------------------------------------------------

cluster_mib=2500 # what the largest takes

choose_base() {
  local base
  if memory_has_room $cluster_mib; then
    base=$(mktemp -d "$memory_folder/taskpool.XXXXXX")
  else
    base=$(mktemp -d /var/tmp/taskpool.XXXXXX)
  fi
  chmod 755 "$base"
  printf '%s' "$base"
}

choose_cluster() {
  local ports=() count
  for ((count = 0; count < 12; count++)); do ports+=("$(free_port "${ports[@]}")"); done
  (
    umask 077
    printf 'TP_CLUSTER=%s\nTP_BASE=%q\nTP_PORTS=(%s)\nTP_DB_PASSWORD=%s\n' "$1" "$(choose_base)" "${ports[*]}" \
      "$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')" >"$TP_SCRATCH/cluster"
  )
}

# ---- What others read --------------------------------------------------------------------------------------

write_env() {
  local node
  {
    echo "# Written by tools/cluster_up.sh."
    export_line TP_SCRATCH "$TP_SCRATCH"
    export_line TASKPOOL_TEST_CLUSTER "$TP_CLUSTER"
    export_line TASKPOOL_TEST_CLUSTER_DSN "$("${kind}_dsn")"
    export_line TASKPOOL_TEST_PG_BIN "${pg_bin:-}"
    for node in $("${kind}_nodes"); do
      "${kind}_node" "$node"
      export_line "TASKPOOL_TEST_NODE${node}_PORT" "$node_port"
      export_line "TASKPOOL_TEST_NODE${node}_SOCKET" "$node_socket"
      export_line "TASKPOOL_TEST_NODE${node}_PIDFILE" "$node_pidfile"
      export_line "TASKPOOL_TEST_NODE${node}_DSN" "$("${kind}_dsn" "$node")"
    done
  } >"$TP_SCRATCH/cluster.sh.new"
  chmod 600 "$TP_SCRATCH/cluster.sh.new"
  mv "$TP_SCRATCH/cluster.sh.new" "$TP_SCRATCH/cluster.sh"
}

# ---- Main --------------------------------------------------------------------------------------------------

lock() {
  command -v flock >/dev/null || missing util-linux
  mkdir -p "$TP_SCRATCH"
  exec 9>"$TP_SCRATCH/lock"
  flock -w 180 9 || die "another cluster_up.sh or cluster_down.sh is at work on $TP_SCRATCH"
}

the_cluster() {
  lock
  read_cluster || die "no cluster was started from $TP_SCRATCH"
  "${kind}_need"
}

start() {
  kind_of "$1"
  "${kind}_need"
  lock
  if ! read_cluster; then
    choose_cluster "$1"
    read_cluster
  fi
  [ "$TP_CLUSTER" = "$1" ] || die "there is another cluster, $TP_CLUSTER: stop it first (tools/cluster_down.sh)"
  "${kind}_up"
  write_env
  say "$TP_CLUSTER: up, data in $TP_BASE; connection strings in $TP_SCRATCH/cluster.sh"
}

umask 022
case ${1:-} in
  galera | group | streaming | asynchronous | pgbouncer) start "$1" ;;
  --node)
    the_cluster
    "${kind}_again" "${2:?--node needs a number}"
    say "$TP_CLUSTER: node $2 is back"
    ;;
  --promote)
    the_cluster
    [ "$kind" = streaming ] || die "nothing is to be promoted in $TP_CLUSTER"
    streaming_promote "${2:?--promote needs a number}"
    say "$TP_CLUSTER: node $2 takes writes"
    ;;
  --help | -h) usage ;;
  *) usage >&2 && exit 2 ;;
esac
