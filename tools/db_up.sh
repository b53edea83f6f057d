#!/usr/bin/env bash
# Starts the private PostgreSQL, MariaDB and MySQL servers of the tests on 127.0.0.1, or whichever of them is down,
# with the ports, password and data of their first start. Never touches a cluster of the system.
# Writes $TP_SCRATCH/env.sh with the connection strings. db_down.sh stops the servers.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source-path=SCRIPTDIR source=db_mysql.sh
. "$TP_ROOT/tools/db_mysql.sh"

usage() {
  cat <<END
usage: tools/db_up.sh [--only postgres|mariadb|mysql] [--memory] | --status | --help
Starts PostgreSQL, MariaDB and MySQL for the tests and writes \$TP_SCRATCH/env.sh
(TP_SCRATCH: default .scratch in the repository). MySQL is left out where tools/fetch_mysql.sh could not fetch it.
  --only NAME   start this one alone
  --memory      at the first start: data, SQLite's too, in the memory of the machine ($memory_folder) where that has room,
                so that no test waits for a disk. The servers' settings are the same; db_down.sh removes such data
  --status      only say whether they run; exit code 0 when all that are there do
END
}

# ---- First start: choose folder, ports and password ------------------------------------------------------

# The servers' users must be able to reach the folder, and a unix socket's path holds 107 bytes.
base_fits() {
  local base=$1 user
  [ ${#base} -le 75 ] || return 1
  for user in postgres mysql; do
    case $user-$only in postgres-m* | mysql-postgres) continue ;; esac
    as_user "$user" test -x "$base" || return 1
  done
}

memory_mib=7000 # what the tests need there, with the largest pools that they make

memory_has_room() {
  local free
  [ "$(stat -f -c %T "$memory_folder" 2>/dev/null)" = tmpfs ] || return 1
  free=$(df -m --output=avail "$memory_folder" | tail -n 1)
  [ "$free" -ge $memory_mib ] && [ "$(awk '/^MemAvailable:/ { print int($2 / 1024) }' /proc/meminfo)" -ge $memory_mib ]
}

choose_base() {
  local base=$TP_SCRATCH/servers.d
  if [ $in_memory = 1 ] && memory_has_room; then
    base=$(mktemp -d "$memory_folder/taskpool.XXXXXX")
    chmod 755 "$base"
    if base_fits "$base"; then
      printf '%s' "$base"
      return
    fi
    rmdir "$base"
    base=$TP_SCRATCH/servers.d
  fi
  mkdir -p "$base"
  chmod 755 "$base"
  if ! base_fits "$base"; then
    rmdir "$base" 2>/dev/null || true
    base=$(mktemp -d /var/tmp/taskpool.XXXXXX)
    chmod 755 "$base"
  fi
  printf '%s' "$base"
}

# Below the range from which the kernel takes ports for outgoing connections, and none of those given.
free_port() {
  local port
  while :; do
    port=$((15000 + RANDOM % 15000))
    if [[ " $* " != *" $port "* ]] && ! (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then
      printf '%s' "$port"
      return
    fi
  done
}

choose_servers() {
  local base pg maria password
  base=$(choose_base)
  pg=$(free_port)
  maria=$(free_port "$pg")
  password=$(od -An -N18 -tx1 /dev/urandom | tr -d ' \n')
  (
    umask 077
    printf 'TP_BASE=%q\nTP_PG_PORT=%s\nTP_MARIADB_PORT=%s\nTP_DB_PASSWORD=%s\n' \
      "$base" "$pg" "$maria" "$password" >"$TP_SCRATCH/servers"
  )
}

# ---- PostgreSQL ------------------------------------------------------------------------------------------

pg_settings() {
  cat <<END
listen_addresses = '127.0.0.1'
port = $TP_PG_PORT
unix_socket_directories = '$pg_socket'
max_connections = 300
shared_buffers = 64MB
fsync = on
synchronous_commit = on
full_page_writes = on
max_wal_size = 512MB
password_encryption = 'scram-sha-256'
END
}

pg_access() {
  cat <<END
# The socket's folder is open to the server's owner and root only.
local all all trust
host all all 127.0.0.1/32 scram-sha-256
END
}

# psql as superuser over the socket; statements come on stdin so that no password is an argument.
pg_sql() {
  as_user postgres "$pg_bin/psql" -XqAt -v ON_ERROR_STOP=1 -h "$pg_socket" -p "$TP_PG_PORT" -U postgres "$@"
}

pg_create() {
  rm -rf "$pg_dir"
  mkdir -p "$pg_socket"
  chmod 700 "$pg_dir" "$pg_socket"
  own_for postgres "$pg_dir" "$pg_socket"
  as_user postgres "$pg_bin/initdb" -D "$pg_dir/data" -U postgres --encoding=UTF8 --locale=C.UTF-8 \
    --auth-local=trust --auth-host=scram-sha-256 >"$TP_SCRATCH/initdb.log" 2>&1 ||
    fail_with_log "PostgreSQL: initdb failed" "$TP_SCRATCH/initdb.log"
  pg_settings >>"$pg_dir/data/postgresql.conf"
  pg_access >"$pg_dir/data/pg_hba.conf"
}

# A killed server's children hold its shared memory for a moment, so starting is tried again.
pg_start() {
  local try
  for try in 1 2 3 4 5 6 7 8 9 10; do
    if as_user postgres "$pg_bin/pg_ctl" start -D "$pg_dir/data" -l "$pg_dir/server.log" -w -t 60 \
      </dev/null >/dev/null 2>&1 9>&-; then
      return 0
    fi
    [ "$try" = 10 ] || sleep 1
  done
  fail_with_log "PostgreSQL did not start" "$pg_dir/server.log"
}

pg_fill() {
  pg_sql -d postgres <<END
CREATE ROLE taskpool LOGIN PASSWORD '$TP_DB_PASSWORD';
CREATE DATABASE taskpool OWNER taskpool;
CREATE DATABASE taskpool_gen OWNER taskpool;
END
  touch "$pg_dir/ready"
}

pg_up() {
  if [ -e "$pg_dir/ready" ]; then
    if pg_answers; then
      say "PostgreSQL: already up, 127.0.0.1:$TP_PG_PORT"
      return
    fi
    pg_start
  else
    pg_create
    pg_start
    pg_fill
  fi
  say "PostgreSQL: up, 127.0.0.1:$TP_PG_PORT, data in $pg_dir"
}

# ---- MariaDB ---------------------------------------------------------------------------------------------

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
innodb_buffer_pool_size = 64M
innodb_log_file_size = 32M
innodb_flush_log_at_trx_commit = 1
END
  if [ "$(id -u)" = 0 ]; then
    echo "user = mysql"
  fi
}

maria_sql() {
  mariadb --no-defaults --socket="$maria_socket" --user=root --batch
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

maria_start() {
  local waited
  setsid "$maria_bin" --defaults-file="$maria_dir/my.cnf" </dev/null >/dev/null 2>&1 9>&- &
  for ((waited = 0; waited < 600; waited++)); do
    if maria_answers; then
      return 0
    fi
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

maria_up() {
  if [ -e "$maria_dir/ready" ]; then
    if maria_answers; then
      say "MariaDB: already up, 127.0.0.1:$TP_MARIADB_PORT"
      return
    fi
    maria_start
  else
    maria_create
    maria_start
    maria_fill
  fi
  say "MariaDB: up, 127.0.0.1:$TP_MARIADB_PORT, data in $maria_dir"
}

# ---- What the tests read ---------------------------------------------------------------------------------

export_line() {
  printf 'export %s=%s\n' "$1" "${2@Q}"
}

write_env() {
  local pg maria ora my
  pg="Driver=PostgreSQL Unicode;Server=127.0.0.1;Port=$TP_PG_PORT;UID=taskpool;PWD=$TP_DB_PASSWORD;Database="
  maria="Driver=MariaDB Unicode;Server=127.0.0.1;Port=$TP_MARIADB_PORT;UID=taskpool;PWD=$TP_DB_PASSWORD;Database="
  my="Driver=MariaDB Unicode;Server=127.0.0.1;Port=$TP_MYSQL_PORT;UID=taskpool;PWD=$TP_DB_PASSWORD;Database="
  # MariaDB stands in for Oracle; its strict mode has to be kept, and '' is NULL there. Oracle locks only what an UPDATE changes, not what it reads on
  # the way, so scans must look dear; and an UPDATE that waited goes on with what is there then.
  ora="Dialect=oracle;INITSTMT={SET sql_mode=CONCAT(@@sql_mode,',ORACLE,EMPTY_STRING_IS_NULL') /*M!110600 , optimizer_scan_setup_cost=1000000, innodb_snapshot_isolation=OFF */};"
  {
    echo "# Written by tools/db_up.sh. Source it before running the tests by hand."
    export_line TP_SCRATCH "$TP_SCRATCH"
    export_line TASKPOOL_TEST_FILES "$TP_BASE"
    export_line TASKPOOL_TEST_DSN_SQLITE "Driver=SQLite3;Database=$TP_SCRATCH/test.db;"
    export_line TASKPOOL_TEST_DSN_POSTGRES "${pg}taskpool;"
    export_line TASKPOOL_TEST_DSN_MARIADB "${maria}taskpool;"
    export_line TASKPOOL_TEST_DSN_ORAMODE "${maria}taskpool_ora;$ora"
    export_line TASKPOOL_TEST_DSN_GENERIC_SQLITE "Driver=SQLite3;Database=$TP_SCRATCH/test_gen.db;Dialect=generic;"
    export_line TASKPOOL_TEST_DSN_GENERIC_POSTGRES "${pg}taskpool_gen;Dialect=generic;"
    export_line TASKPOOL_TEST_DSN_GENERIC_MARIADB "${maria}taskpool_gen;Dialect=generic;"
    export_line TASKPOOL_TEST_PASSWORD "$TP_DB_PASSWORD"
    export_line TASKPOOL_TEST_PG_PORT "$TP_PG_PORT"
    export_line TASKPOOL_TEST_PG_SOCKET "$pg_socket"
    export_line TASKPOOL_TEST_PG_BIN "$pg_bin"
    export_line TASKPOOL_TEST_PG_PIDFILE "$pg_pidfile"
    export_line TASKPOOL_TEST_MARIADB_PORT "$TP_MARIADB_PORT"
    export_line TASKPOOL_TEST_MARIADB_SOCKET "$maria_socket"
    export_line TASKPOOL_TEST_MARIADB_PIDFILE "$maria_pidfile"
    if [ -e "$my_dir/ready" ]; then
      export_line TASKPOOL_TEST_DSN_MYSQL "${my}taskpool;"
      export_line TASKPOOL_TEST_DSN_GENERIC_MYSQL "${my}taskpool_gen;Dialect=generic;"
      export_line TASKPOOL_TEST_MYSQL_PORT "$TP_MYSQL_PORT"
      export_line TASKPOOL_TEST_MYSQL_SOCKET "$my_socket"
      export_line TASKPOOL_TEST_MYSQL_PIDFILE "$my_pidfile"
    fi
  } >"$TP_SCRATCH/env.sh.new"
  chmod 600 "$TP_SCRATCH/env.sh.new"
  mv "$TP_SCRATCH/env.sh.new" "$TP_SCRATCH/env.sh"
}

# ---- Main ------------------------------------------------------------------------------------------------

fail_with_log() {
  complain "$1; the end of $2:"
  tail -n 20 "$2" >&2 || true
  exit 1
}

wanted() {
  [ -z "$only" ] || [ "$only" = "$1" ]
}

# What was not asked for need not be installed.
need_programs() {
  local name
  local programs=(flock)
  pg_bin=$(find_pg_bin) || ! wanted postgres ||
    die "PostgreSQL's initdb and pg_ctl are missing: run tools/install_packages.sh test"
  if wanted mariadb; then
    maria_bin=$(PATH=$PATH:/usr/sbin command -v mariadbd) ||
      die "mariadbd is missing: run tools/install_packages.sh test"
    programs+=(mariadb mariadb-admin mariadb-install-db)
  fi
  if ! my_home=$(find_mysql); then
    [ "$only" != mysql ] || die "MySQL's server is missing: run tools/fetch_mysql.sh"
  elif wanted mysql; then
    programs+=(mariadb mariadb-admin)
  fi
  for name in "${programs[@]}"; do
    command -v "$name" >/dev/null || die "$name is missing: run tools/install_packages.sh test"
  done
}

need_drivers() {
  local name
  command -v odbcinst >/dev/null || die "odbcinst is missing: run tools/install_packages.sh build"
  local drivers=("SQLite3")
  if wanted postgres; then drivers+=("PostgreSQL Unicode"); fi
  if wanted mariadb || wanted mysql; then drivers+=("MariaDB Unicode"); fi
  for name in "${drivers[@]}"; do
    odbcinst -q -d -n "$name" >/dev/null 2>&1 ||
      die "ODBC driver \"$name\" is not registered in odbcinst.ini:" \
        "run tools/install_packages.sh test, or register it under this name (see odbcinst -j)"
  done
}

status() {
  local code=0
  read_servers || {
    say "never started"
    return 1
  }
  if pg_answers; then say "PostgreSQL: up, 127.0.0.1:$TP_PG_PORT"; else say "PostgreSQL: down" && code=1; fi
  if maria_answers; then say "MariaDB: up, 127.0.0.1:$TP_MARIADB_PORT"; else say "MariaDB: down" && code=1; fi
  if ! find_mysql >/dev/null; then
    say "MySQL: not there"
  elif my_answers; then say "MySQL: up, 127.0.0.1:$TP_MYSQL_PORT"; else say "MySQL: down" && code=1; fi
  return $code
}

start() {
  need_programs
  need_drivers
  mkdir -p "$TP_SCRATCH"
  exec 9>"$TP_SCRATCH/lock"
  flock -w 180 9 || die "another db_up.sh or db_down.sh is at work on $TP_SCRATCH"
  if ! read_servers; then
    choose_servers
    read_servers
  fi
  my_choose_port
  if wanted postgres; then pg_up; fi
  if wanted mariadb; then maria_up; fi
  if wanted mysql; then
    if [ -n "$my_home" ]; then my_up; else say "MySQL: NOT THERE, its tests are skipped: run tools/fetch_mysql.sh"; fi
  fi
  write_env
}

umask 022
only='' in_memory=0
while [ $# -gt 0 ]; do
  case $1 in
    --only)
      only=${2:-}
      case $only in
        postgres | mariadb | mysql) ;;
        *) usage >&2 && exit 2 ;;
      esac
      shift
      ;;
    --memory) in_memory=1 ;;
    --status) status && exit 0 || exit 1 ;;
    --help | -h) usage && exit 0 ;;
    *) usage >&2 && exit 2 ;;
  esac
  shift
done
start
