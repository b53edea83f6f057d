#!/usr/bin/env bash
# test_galera.sh PATH_TO_TASKPOOL: one node of a Galera cluster of its own. The doctor says what locks are worth there, and warns
# of plan hold; and when the node is made read-only, the program says so.
# shellcheck source-path=SCRIPTDIR/../../tools
set -euo pipefail
TASKPOOL=$(realpath "${1:?usage: test_galera.sh PATH_TO_TASKPOOL}")
# shellcheck source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../../tools/lib.sh"
provider=/usr/lib/galera/libgalera_smm.so
PATH=$PATH:/usr/sbin
if [ ! -e $provider ] || ! command -v mariadbd >/dev/null; then
  say "SKIPPED: there is no MariaDB server with Galera (package galera-4) here"
  exit 77
fi
base=$(mktemp -d /var/tmp/taskpool.XXXXXX)
chmod 755 "$base"
own_for mysql "$base"
port=$(free_port)
group=$(free_port "$port")
ist=$(free_port "$port" "$group")
node=
worker=

clean_up() {
  if [ -n "$worker" ]; then kill "$worker" || true; fi
  if [ -n "$node" ]; then
    as_root shutdown >/dev/null 2>&1 || true
    wait "$node" || true
  fi
  rm -rf "$base"
}
trap clean_up EXIT

as_root() {
  if [ "$1" = shutdown ]; then set -- -e "SHUTDOWN"; fi
  mariadb --no-defaults --socket="$base/socket" --user=root --batch "$@"
}

cat >"$base/my.cnf" <<END
[mysqld]
datadir = $base/data
socket = $base/socket
pid-file = $base/pid
bind-address = 127.0.0.1
port = $port
skip-name-resolve
character-set-server = utf8mb4
innodb_buffer_pool_size = 64M
innodb_log_file_size = 32M
binlog_format = ROW
innodb_autoinc_lock_mode = 2
wsrep_on = ON
wsrep_provider = $provider
wsrep_cluster_address = gcomm://
wsrep_node_address = 127.0.0.1
wsrep_provider_options = "gcache.size=16M;gmcast.listen_addr=tcp://127.0.0.1:$group;ist.recv_addr=127.0.0.1:$ist"
END
as_user mysql mariadb-install-db --defaults-file="$base/my.cnf" --skip-test-db --auth-root-authentication-method=normal >"$base/log" 2>&1
as_user mysql "$(command -v mariadbd)" --defaults-file="$base/my.cnf" --wsrep-new-cluster >>"$base/log" 2>&1 </dev/null &
node=$!
end=$((SECONDS + 120))
until as_root -e "SHOW STATUS LIKE 'wsrep_ready'" 2>/dev/null | grep -q ON; do
  if [ $SECONDS -ge $end ] || ! kill -0 "$node"; then
    tail -n 20 "$base/log" >&2
    die "the node does not start"
  fi
  sleep 0.2
done
as_root -e "CREATE DATABASE pool; CREATE USER pool@'127.0.0.1' IDENTIFIED BY 'pool'; GRANT ALL ON pool.* TO pool@'127.0.0.1'"
dsn="Driver=MariaDB Unicode;Server=127.0.0.1;Port=$port;UID=pool;PWD=pool;Database=pool"

# expect CODE REGEX DSN COMMAND...
expect() {
  local wanted=$1 regex=$2 code=0
  TASKPOOL_DSN=$3 "$TASKPOOL" "${@:4}" >"$base/out" 2>&1 || code=$?
  if [ "$code" != "$wanted" ] || ! grep -qE -- "$regex" "$base/out"; then
    cat "$base/out" >&2
    die "taskpool ${*:4}: exit code $code, and not '$regex'"
  fi
  say "ok - ${*:4}: $regex"
}

expect 0 'cluster +ok .*within one node only' "$dsn" doctor
expect 9 'cluster +BAD .*one node' "$dsn;Plan=hold" doctor
expect 6 'plan hold is not for a cluster' "$dsn" work --plan hold --drain --handler pay=true
expect 0 installed "$dsn" schema install
expect 0 . "$dsn" enqueue pay
expect 0 'done 1,' "$dsn" work --handler pay=/bin/true --drain

# A worker that holds is connected to a server that is alone, and then to a node of the cluster.
as_root -e "SET GLOBAL wsrep_on = 0"
TASKPOOL_DSN=$dsn "$TASKPOOL" work --plan hold --handler pay=/bin/true >"$base/told" 2>&1 &
worker=$!
await() {
  local end=$((SECONDS + 120))
  until "${@:2}"; do
    if [ $SECONDS -ge $end ] || ! kill -0 $worker; then
      cat "$base/told" >&2
      die "the worker: $1 does not come"
    fi
    sleep 0.2
  done
  say "ok - the worker: $1"
}
all_done() { [ "$(as_root -N -e "SELECT COUNT(*) FROM pool.tp_pending")" = 0 ]; }
expect 0 . "$dsn" enqueue pay
await 'its task is done' all_done
as_root -e "SET GLOBAL wsrep_on = 1"
for session in $(as_root -N -e "SELECT ID FROM information_schema.processlist WHERE USER = 'pool'"); do
  as_root -e "KILL $session" || true
done
expect 0 . "$dsn" enqueue pay
await 'plan hold is refused' grep -q 'plan hold is not for a cluster' "$base/told"
kill $worker
wait $worker || true
worker=
as_root -e "SET GLOBAL read_only = 1"
expect 6 'may be a standby' "$dsn" enqueue pay --retry-for 0s
expect 6 'may be a standby' "$dsn" pause pay
expect 9 'may be a standby' "$dsn" doctor
