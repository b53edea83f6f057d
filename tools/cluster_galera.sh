# MariaDB with Galera, three nodes that all take writes. A part of cluster_up.sh. Sourced, not run.
# shellcheck shell=bash disable=SC2034,SC2154

galera_provider=/usr/lib/galera/libgalera_smm.so

galera_need() {
  maria_bin=$(PATH=$PATH:/usr/sbin command -v mariadbd) || missing mariadbd
  [ -e $galera_provider ] || missing galera-4
  command -v rsync >/dev/null || missing rsync
  command -v lsof >/dev/null || missing lsof
}

galera_nodes() {
  echo 1 2 3
}

# Four ports each: of clients, of the group, of a full copy, of a part.
galera_node() {
  galera_number=$1
  TP_MARIADB_PORT=${TP_PORTS[$(($1 - 1))]}
  galera_group=${TP_PORTS[$(($1 + 2))]} galera_copy=${TP_PORTS[$(($1 + 5))]} galera_part=${TP_PORTS[$(($1 + 8))]}
  maria_dir=$TP_BASE/$1
  maria_socket=$maria_dir/server.sock
  maria_pidfile=$maria_dir/server.pid
  node_dir=$maria_dir node_port=$TP_MARIADB_PORT node_socket=$maria_socket node_pidfile=$maria_pidfile
}

# galera_dsn [N]: node 1's without a number.
galera_dsn() {
  mariadb_string "${TP_PORTS[$((${1:-1} - 1))]}"
}

galera_settings() {
  maria_settings
  cat <<END
binlog_format = ROW
innodb_autoinc_lock_mode = 2
wsrep_on = ON
wsrep_provider = $galera_provider
wsrep_cluster_name = $(basename "$TP_BASE")
wsrep_cluster_address = gcomm://127.0.0.1:${TP_PORTS[3]},127.0.0.1:${TP_PORTS[4]},127.0.0.1:${TP_PORTS[5]}
wsrep_node_name = node$galera_number
wsrep_node_address = 127.0.0.1:$galera_group
wsrep_sst_method = rsync
wsrep_sst_receive_address = 127.0.0.1:$galera_copy
wsrep_provider_options = "gmcast.listen_addr=tcp://127.0.0.1:$galera_group;ist.recv_addr=127.0.0.1:$galera_part;gcache.size=64M;evs.keepalive_period=PT0.3S;evs.suspect_timeout=PT2S;evs.inactive_timeout=PT5S"
END
}

galera_is_synced() {
  [ "$(maria_sql -N -e "SELECT VARIABLE_VALUE FROM information_schema.global_status WHERE VARIABLE_NAME = 'wsrep_local_state_comment'" 2>/dev/null)" = Synced ]
}

# galera_start SETTING...
galera_start() {
  maria_start "$@"
  await "node $galera_number in step with the others" 120 galera_is_synced
}

# All but the first get their data from another.
galera_up() {
  local node
  for node in $(galera_nodes); do
    galera_node "$node"
    if [ -e "$maria_dir/my.cnf" ]; then
      galera_again "$node"
    elif [ "$node" = 1 ]; then
      maria_create
      galera_settings >"$maria_dir/my.cnf"
      galera_start --wsrep-new-cluster
      maria_fill
    else
      mkdir -p "$maria_dir/data" "$maria_dir/tmp"
      galera_settings >"$maria_dir/my.cnf"
      chmod 700 "$maria_dir" "$maria_dir/data"
      own_for mysql -R "$maria_dir"
      galera_start
    fi
  done
}

# With the place up to which it has all, it need not be copied whole.
galera_again() {
  local place
  galera_node "$1"
  if maria_answers; then return; fi
  place=$(as_user mysql "$maria_bin" --defaults-file="$maria_dir/my.cnf" --log-error=/dev/stderr --wsrep-recover 2>&1 </dev/null |
    sed -n 's/.*Recovered position: *//p' | tail -n 1)
  galera_start ${place:+--wsrep-start-position="$place"}
}

galera_pid() {
  galera_node "$1"
  maria_pid
}
