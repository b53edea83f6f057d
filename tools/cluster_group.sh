# MySQL with Group Replication, three nodes of which one takes writes; which, they decide themselves. A part of cluster_up.sh. Sourced, not run.
# shellcheck shell=bash disable=SC2034,SC2154

group_need() {
  my_home=$(find_mysql) || missing "MySQL's server (tools/fetch_mysql.sh)"
}

group_nodes() {
  echo 1 2 3
}

group_node() {
  group_number=$1
  TP_MYSQL_PORT=${TP_PORTS[$(($1 - 1))]}
  my_dir=$TP_BASE/$1
  my_socket=$my_dir/server.sock
  my_pidfile=$my_dir/server.pid
  node_dir=$my_dir node_port=$TP_MYSQL_PORT node_socket=$my_socket node_pidfile=$my_pidfile
}

# group_dsn [N]: node 1's without a number.
group_dsn() {
  mariadb_string "${TP_PORTS[$((${1:-1} - 1))]}"
}

# Nobody writes to a server that has not found the group yet. Where a majority is gone, commits end after half a minute.
group_settings() {
  my_settings
  cat <<END
server-id = $group_number
log-bin = binlog
gtid-mode = ON
enforce-gtid-consistency = ON
super-read-only = ON
report-host = 127.0.0.1
report-port = $TP_MYSQL_PORT
plugin-load-add = group_replication.so
group-replication-group-name = 6b1ad0c8-6b7c-4f5e-9d0c-7a5c1c0f3b11
group-replication-local-address = 127.0.0.1:${TP_PORTS[$((group_number + 2))]}
group-replication-group-seeds = 127.0.0.1:${TP_PORTS[3]},127.0.0.1:${TP_PORTS[4]},127.0.0.1:${TP_PORTS[5]}
group-replication-start-on-boot = OFF
group-replication-recovery-get-public-key = ON
group-replication-member-expel-timeout = 0
group-replication-unreachable-majority-timeout = 30
END
}

group_sql() {
  mariadb --no-defaults --socket="$my_socket" --user=root --batch -N "$@"
}

group_is_online() {
  [ "$(group_sql -e "SELECT MEMBER_STATE FROM performance_schema.replication_group_members WHERE MEMBER_PORT = $TP_MYSQL_PORT" 2>/dev/null)" = ONLINE ]
}

group_join() {
  group_sql -e "START GROUP_REPLICATION" || fail_with_log "node $group_number cannot join the group" "$my_dir/server.log"
  await "node $group_number in step with the group" 120 group_is_online
}

# The first makes the group, and what is made there the others get.
group_begin() {
  group_sql -e "SET GLOBAL group_replication_bootstrap_group = ON"
  group_join
  group_sql <<END
SET GLOBAL group_replication_bootstrap_group = OFF;
CREATE USER 'copies'@'127.0.0.1' IDENTIFIED BY '$TP_DB_PASSWORD';
GRANT REPLICATION SLAVE, CONNECTION_ADMIN, BACKUP_ADMIN, GROUP_REPLICATION_STREAM ON *.* TO 'copies'@'127.0.0.1';
END
  my_fill
}

group_up() {
  local node
  for node in $(group_nodes); do
    group_node "$node"
    if [ -e "$my_dir/ready" ]; then
      group_again "$node"
      continue
    fi
    if [ "$node" = 1 ]; then
      my_create
      cp -a "$my_dir" "$TP_BASE/empty"
    else
      cp -a "$TP_BASE/empty" "$my_dir"
    fi
    rm -f "$my_dir/data/auto.cnf" # the server's own name
    group_settings >"$my_dir/my.cnf"
    my_start
    group_sql <<<"CHANGE REPLICATION SOURCE TO SOURCE_USER = 'copies', SOURCE_PASSWORD = '$TP_DB_PASSWORD' FOR CHANNEL 'group_replication_recovery'"
    if [ "$node" = 1 ]; then group_begin; else group_join; fi
    touch "$my_dir/ready"
  done
}

group_again() {
  group_node "$1"
  if ! my_answers; then my_start; fi
  if ! group_is_online; then group_join; fi
}

group_pid() {
  group_node "$1"
  my_pid
}
