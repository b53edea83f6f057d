# Shared by the scripts in tools/: where the repository, the build and the scratch folder are, messages, building
# programs, and the private database servers: their folders and programs, and whether they answer. Sourced, not run. It
# starts no server. Read next: db_up.sh.
# shellcheck shell=bash disable=SC2034

TP_ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
TP_SCRATCH=${TP_SCRATCH:-$TP_ROOT/.scratch}
case $TP_SCRATCH in
  /*) ;;
  *) TP_SCRATCH=$PWD/$TP_SCRATCH ;;
esac
export TP_SCRATCH

say() {
  printf '%s\n' "$*"
}

complain() {
  printf '%s: %s\n' "${0##*/}" "$*" >&2
}

die() {
  complain "$*"
  exit 1
}

# Runs a command under sanitizers, which in older compilers cannot live with as much address randomisation as newer
# kernels use.
calmly() {
  local bits=0
  read -r bits 2>/dev/null </proc/sys/vm/mmap_rnd_bits || true
  if [ "$bits" -gt 28 ] && setarch --addr-no-randomize true 2>/dev/null; then
    setarch --addr-no-randomize "$@"
  else
    "$@"
  fi
}

build_dir=${TASKPOOL_BUILD:-$TP_ROOT/build/release} # TASKPOOL_BUILD: a build that is there, to be used as it is

# make_programs TARGET...: in the release build, quietly, unless TASKPOOL_BUILD is set.
make_programs() {
  local log
  [ -z "${TASKPOOL_BUILD:-}" ] || return 0
  log=$(mktemp)
  { { [ -f "$build_dir/build.ninja" ] || (cd "$TP_ROOT" && cmake --preset release); } &&
    cmake --build "$build_dir" --target "$@"; } >"$log" 2>&1 ||
    { tail -n 20 "$log" >&2 && die "the build failed; all its output is in $log"; }
  rm -f "$log"
}

memory_folder=/dev/shm # where db_up.sh --memory keeps data

# memory_has_room MIB
memory_has_room() {
  local free
  [ "$(stat -f -c %T "$memory_folder" 2>/dev/null)" = tmpfs ] || return 1
  free=$(df -m --output=avail "$memory_folder" | tail -n 1)
  [ "$free" -ge "$1" ] && [ "$(awk '/^MemAvailable:/ { print int($2 / 1024) }' /proc/meminfo)" -ge "$1" ]
}

# ---- Private servers -------------------------------------------------------------------------------------
# $TP_SCRATCH/servers holds what was chosen at the first start: TP_BASE (folder of the servers' data),
# TP_PG_PORT, TP_MARIADB_PORT, TP_MYSQL_PORT, TP_DB_PASSWORD.

# Set by read_servers.
pg_dir='' pg_socket='' pg_pidfile='' maria_dir='' maria_socket='' maria_pidfile=''
my_dir='' my_socket='' my_pidfile=''

read_servers() {
  [ -r "$TP_SCRATCH/servers" ] || return 1
  # shellcheck source=/dev/null
  . "$TP_SCRATCH/servers"
  # A base in a temporary folder may have been cleaned away, for instance by a reboot.
  [ -d "$TP_BASE" ] || return 1
  pg_dir=$TP_BASE/pg
  pg_socket=$TP_BASE/pg/socket
  pg_pidfile=$TP_BASE/pg/data/postmaster.pid
  maria_dir=$TP_BASE/mariadb
  maria_socket=$TP_BASE/mariadb/server.sock
  maria_pidfile=$TP_BASE/mariadb/server.pid
  my_dir=$TP_BASE/mysql
  my_socket=$TP_BASE/mysql/server.sock
  my_pidfile=$TP_BASE/mysql/server.pid
}

# The newest PostgreSQL programs: Debian keeps them out of PATH.
find_pg_bin() {
  local dir
  # shellcheck disable=SC2012 # version numbers only
  for dir in $(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -t/ -k5 -Vr); do
    if [ -x "$dir/initdb" ] && [ -x "$dir/pg_ctl" ]; then
      printf '%s' "$dir"
      return 0
    fi
  done
  dir=$(command -v pg_ctl) && dirname "$dir"
}

# Where tools/fetch_mysql.sh unpacks MySQL's server, and which of them has it.
mysql_homes=("${TP_MYSQL:-/var/cache/taskpool/mysql}" "$TP_SCRATCH/mysql")

find_mysql() {
  local home
  for home in "${mysql_homes[@]}"; do
    if [ -x "$home/usr/sbin/mysqld" ]; then
      printf '%s' "$home"
      return 0
    fi
  done
  return 1
}

# Servers refuse to run as root, or should: as root they run as the distribution's users.
as_user() {
  local user=$1
  shift
  if [ "$(id -u)" = 0 ]; then
    (cd / && exec runuser -u "$user" -- "$@")
  else
    (cd / && exec "$@")
  fi
}

own_for() {
  local user=$1
  shift
  if [ "$(id -u)" = 0 ]; then
    chown "$user" "$@"
  fi
}

# The live server process behind a pid file, or nothing: the file may be stale and its number reused.
server_pid() {
  local file=$1 word=$2 pid
  [ -r "$file" ] || return 1
  read -r pid <"$file" || [ -n "${pid:-}" ] || return 1
  { tr '\0' ' ' <"/proc/$pid/cmdline"; } 2>/dev/null | grep -qF -- "$word" || return 1
  printf '%s' "$pid"
}

pg_pid() {
  server_pid "$pg_pidfile" "$pg_dir/data"
}

maria_pid() {
  server_pid "$maria_pidfile" "$maria_dir/my.cnf"
}

my_pid() {
  server_pid "$my_pidfile" "$my_dir/my.cnf"
}

pg_answers() {
  [ -n "$(pg_pid)" ] && "$(find_pg_bin)/pg_isready" -q -t 3 -h "$pg_socket" -p "$TP_PG_PORT"
}

maria_answers() {
  [ -n "$(maria_pid)" ] &&
    mariadb-admin --no-defaults --socket="$maria_socket" --user=root --connect-timeout=3 ping >/dev/null 2>&1
}

my_answers() {
  [ -n "$(my_pid)" ] &&
    mariadb-admin --no-defaults --socket="$my_socket" --user=root --connect-timeout=3 ping >/dev/null 2>&1
}

# Below the range from which the kernel takes ports for outgoing connections, and none of those given. A file keeps a port for who
# was given it, for ten minutes: by then it listens.
free_port() {
  local port given=/tmp/taskpool.ports
  mkdir -m 1777 "$given" 2>/dev/null || true
  find "$given" -type f -mmin +10 -delete 2>/dev/null || true
  while :; do
    port=$((15000 + RANDOM % 15000))
    if [[ " $* " != *" $port "* ]] && (set -C && : >"$given/$port") 2>/dev/null && ! (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then
      printf '%s' "$port"
      return
    fi
  done
}

fail_with_log() {
  complain "$1; the end of $2:"
  tail -n 20 "$2" >&2 || true
  exit 1
}

export_line() {
  printf 'export %s=%s\n' "$1" "${2@Q}"
}
