# MariaDB's servers: a part of db_up.sh and cluster_up.sh. Sourced, not run.
# shellcheck shell=bash disable=SC2119,SC2120,SC2154

maria_settings() {
  cat <<END
[mariadbd]
datadir = $maria_dir/data
socket = $maria_socket
pid-file = $maria_pidfile
log-error = $maria_dir/server.log
tmpdir = $maria_dir/tmp
bind-address = 127.0.0.1
port = $TP_MARIADB_PORT
skip-name-resolve
max_connections = 400
character-set-server = utf8mb4
collation-server = utf8mb4_general_ci
innodb_buffer_pool_size = ${db_cache_mb}M
innodb_log_file_size = $((db_cache_mb / 2))M
innodb_flush_log_at_trx_commit = 1
END
  if [ "$(id -u)" = 0 ]; then
    echo "user = mysql"
  fi
}

maria_sql() {
  mariadb --no-defaults --socket="$maria_socket" --user=root --batch "$@"
}

maria_create() {
  rm -rf "$maria_dir"
  mkdir -p "$maria_dir/data" "$maria_dir/tmp"
  maria_settings >"$maria_dir/my.cnf"
  chmod 700 "$maria_dir" "$maria_dir/data"
  own_for mysql -R "$maria_dir"
  as_user mysql mariadb-install-db --defaults-file="$maria_dir/my.cnf" --skip-test-db \
    --auth-root-authentication-method=normal >"$TP_SCRATCH/mariadb-install.log" 2>&1 ||
    fail_with_log "MariaDB: mariadb-install-db failed" "$TP_SCRATCH/mariadb-install.log"
}

# maria_start SETTING...
maria_start() {
  local waited server
  setsid "$maria_bin" --defaults-file="$maria_dir/my.cnf" "$@" </dev/null >/dev/null 2>&1 9>&- &
  server=$!
  for ((waited = 0; waited < 3000; waited++)); do
    if maria_answers; then
      return 0
    fi
    kill -0 "$server" 2>/dev/null || break
    sleep 0.1
  done
  fail_with_log "MariaDB did not start" "$maria_dir/server.log"
}

# root stays without a password but can come through the socket only, whose folder is closed to others.
maria_fill() {
  local host
  maria_sql <<END
DELETE FROM mysql.global_priv WHERE User = '' OR (User = 'root' AND Host <> 'localhost');
FLUSH PRIVILEGES;
CREATE DATABASE taskpool CHARACTER SET utf8mb4;
CREATE DATABASE taskpool_ora CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
CREATE DATABASE taskpool_gen CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
END
  for host in 127.0.0.1 localhost; do
    maria_sql <<END
CREATE USER 'taskpool'@'$host' IDENTIFIED BY '$TP_DB_PASSWORD';
GRANT ALL PRIVILEGES ON taskpool.* TO 'taskpool'@'$host';
GRANT ALL PRIVILEGES ON taskpool_ora.* TO 'taskpool'@'$host';
GRANT ALL PRIVILEGES ON taskpool_gen.* TO 'taskpool'@'$host';
END
  done
  touch "$maria_dir/ready"
}
