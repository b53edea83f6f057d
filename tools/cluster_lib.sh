# Shared by cluster_up.sh and cluster_down.sh. A kind of cluster is a file cluster_KIND.sh with functions KIND_need (are the programs here?),
# KIND_nodes (their numbers), KIND_node N (sets the variables of the servers' scripts, and those below), KIND_up, KIND_again N, KIND_dsn [N]
# and KIND_pid N. Sourced, not run.
# shellcheck shell=bash disable=SC2034

# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source-path=SCRIPTDIR source=db_postgres.sh
. "$TP_ROOT/tools/db_postgres.sh"
# shellcheck source-path=SCRIPTDIR source=db_mariadb.sh
. "$TP_ROOT/tools/db_mariadb.sh"
# shellcheck source-path=SCRIPTDIR source=db_mysql.sh
. "$TP_ROOT/tools/db_mysql.sh"
db_cache_mb=64

kind='' # of cluster: streaming for asynchronous, too
node_dir='' node_port='' node_socket='' node_pidfile='' node_end=KILL # the signal that ends it

# $TP_SCRATCH/cluster holds what was chosen at the first start: TP_CLUSTER (its kind), TP_BASE (folder of the data), TP_PORTS, TP_DB_PASSWORD.
read_cluster() {
  [ -r "$TP_SCRATCH/cluster" ] || return 1
  # shellcheck source=/dev/null
  . "$TP_SCRATCH/cluster"
  [ -d "$TP_BASE" ] || return 1
  kind_of "$TP_CLUSTER"
}

kind_of() {
  kind=$1
  [ "$kind" != asynchronous ] || kind=streaming
  # shellcheck source=/dev/null
  . "$TP_ROOT/tools/cluster_$kind.sh"
}

# mariadb_string PORT: a connection string for MariaDB's driver, which reaches MySQL too.
mariadb_string() {
  printf 'Driver=MariaDB Unicode;Server=127.0.0.1;Port=%s;UID=taskpool;PWD=%s;Database=taskpool' "$1" "$TP_DB_PASSWORD"
}

missing() {
  complain "NOT THERE: $1: run tools/install_packages.sh test"
  exit 3
}

# await WHAT SECONDS COMMAND...
await() {
  local what=$1 end=$((SECONDS + $2))
  shift 2
  until "$@"; do
    [ $SECONDS -lt $end ] || die "$what does not come"
    sleep 0.1
  done
}
