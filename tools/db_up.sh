#!/usr/bin/env bash
# Starts the private PostgreSQL, MariaDB and MySQL servers of the tests on 127.0.0.1, or whichever of them is down,
# with the ports, password and data of their first start. Never touches a cluster of the system.
# Writes $TP_SCRATCH/env.sh with the connection strings. db_down.sh stops the servers.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source-path=SCRIPTDIR source=db_postgres.sh
. "$TP_ROOT/tools/db_postgres.sh"
# shellcheck source-path=SCRIPTDIR source=db_mariadb.sh
. "$TP_ROOT/tools/db_mariadb.sh"
# shellcheck source-path=SCRIPTDIR source=db_mysql.sh
. "$TP_ROOT/tools/db_mysql.sh"

db_cache_mb=${TP_DB_CACHE_MB:-64}

usage() {
  cat <<END
usage: tools/db_up.sh [--only postgres|mariadb|mysql] [--memory] | --status | --help
Starts PostgreSQL, MariaDB and MySQL for the tests and writes \$TP_SCRATCH/env.sh
(TP_SCRATCH: default .scratch in the repository). MySQL is left out where tools/fetch_mysql.sh could not fetch it.
  --only NAME   start this one alone
  --memory      at the first start: data, SQLite's too, in the memory of the machine ($memory_folder) where that has room,
                so that no test waits for a disk. The servers' settings are the same; db_down.sh removes such data
  --status      only say whether they run; exit code 0 when all that are there do
TP_DB_CACHE_MB: at the first start, the megabytes of a server's cache, and of its log (64, for measures of large pools 1024).
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

choose_base() {
  local base=$TP_SCRATCH/servers.d
  if [ $in_memory = 1 ] && memory_has_room $memory_mib; then
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

# ---- What the tests read ---------------------------------------------------------------------------------

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

# server_up pg|maria|my NAME FOLDER PORT
server_up() {
  if [ ! -e "$3/ready" ]; then
    "$1_create"
    "$1_start"
    "$1_fill"
  elif "$1_answers"; then
    say "$2: already up, 127.0.0.1:$4"
    return
  else
    "$1_start"
  fi
  say "$2: up, 127.0.0.1:$4, data in $3"
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
  if wanted postgres; then server_up pg PostgreSQL "$pg_dir" "$TP_PG_PORT"; fi
  if wanted mariadb; then server_up maria MariaDB "$maria_dir" "$TP_MARIADB_PORT"; fi
  if wanted mysql; then
    if [ -n "$my_home" ]; then
      server_up my MySQL "$my_dir" "$TP_MYSQL_PORT"
    else
      say "MySQL: NOT THERE, its tests are skipped: run tools/fetch_mysql.sh"
    fi
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
