# MySQL's own server, as tools/fetch_mysql.sh unpacks it: a part of db_up.sh. Sourced, not run.
# shellcheck shell=bash disable=SC2154

my_choose_port() {
  if [ -z "${TP_MYSQL_PORT:-}" ]; then
    TP_MYSQL_PORT=$(free_port "$TP_PG_PORT" "$TP_MARIADB_PORT")
    printf 'TP_MYSQL_PORT=%s\n' "$TP_MYSQL_PORT" >>"$TP_SCRATCH/servers"
  fi
}

# The unpacked server with the libraries that it was built with.
my_server() {
  local home=$1
  shift
  set -- "$home/usr/sbin/mysqld" "$@"
  setsid "$(ls "$home"/usr/lib/*/ld-linux*.so.*)" \
    --library-path "$(ls -d "$home"/usr/lib/*-linux-gnu*):$home/usr/lib/mysql/private" "$@"
}

# As for MariaDB, which has no binary log unless asked.
my_settings() {
  cat <<END
[mysqld]
basedir = $my_home/usr
lc-messages-dir = $my_home/usr/share/mysql
character-sets-dir = $my_home/usr/share/mysql/charsets
plugin-dir = $my_home/usr/lib/mysql/plugin
secure-file-priv = NULL
mysqlx = OFF
skip-log-bin
datadir = $my_dir/data
socket = $my_socket
pid-file = $my_pidfile
log-error = $my_dir/server.log
tmpdir = $my_dir/tmp
bind-address = 127.0.0.1
port = $TP_MYSQL_PORT
skip-name-resolve
max-connections = 400
character-set-server = utf8mb4
collation-server = utf8mb4_0900_ai_ci
innodb-buffer-pool-size = ${db_cache_mb}M
innodb-redo-log-capacity = ${db_cache_mb}M
innodb-flush-log-at-trx-commit = 1
# What costs processor time, and nobody looks at.
performance-schema-consumer-events-statements-current = OFF
performance-schema-consumer-events-statements-history = OFF
performance-schema-consumer-events-transactions-current = OFF
performance-schema-consumer-events-transactions-history = OFF
performance-schema-consumer-statements-digest = OFF
performance-schema-instrument = 'statement/%=OFF'
performance-schema-instrument = 'stage/%=OFF'
performance-schema-instrument = 'transaction=OFF'
performance-schema-instrument = 'memory/%=OFF'
performance-schema-instrument = 'error=OFF'
END
  case $my_dir in
    "$memory_folder"/*) echo "innodb-flush-method = nosync" ;; # memory needs no flush
  esac
  if [ "$(id -u)" = 0 ]; then
    echo "user = mysql"
  fi
}

my_create() {
  rm -rf "$my_dir"
  mkdir -p "$my_dir/tmp"
  my_settings >"$my_dir/my.cnf"
  chmod 700 "$my_dir"
  own_for mysql -R "$my_dir"
  my_server "$my_home" --defaults-file="$my_dir/my.cnf" --initialize-insecure >"$TP_SCRATCH/mysql-install.log" 2>&1 ||
    fail_with_log "MySQL: the server could not make its data" "$my_dir/server.log"
}

my_start() {
  local waited server
  my_server "$my_home" --defaults-file="$my_dir/my.cnf" </dev/null >/dev/null 2>&1 9>&- &
  server=$!
  for ((waited = 0; waited < 3000; waited++)); do
    if my_answers; then
      return 0
    fi
    kill -0 "$server" 2>/dev/null || break
    sleep 0.1
  done
  fail_with_log "MySQL did not start" "$my_dir/server.log"
}

# root as in maria_fill.
my_fill() {
  local host
  for host in 127.0.0.1 localhost; do
    mariadb --no-defaults --socket="$my_socket" --user=root --batch <<END
CREATE DATABASE IF NOT EXISTS taskpool CHARACTER SET utf8mb4;
CREATE DATABASE IF NOT EXISTS taskpool_gen CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
CREATE USER 'taskpool'@'$host' IDENTIFIED BY '$TP_DB_PASSWORD';
GRANT ALL PRIVILEGES ON taskpool.* TO 'taskpool'@'$host';
GRANT ALL PRIVILEGES ON taskpool_gen.* TO 'taskpool'@'$host';
END
  done
  touch "$my_dir/ready"
}
