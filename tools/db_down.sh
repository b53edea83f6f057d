#!/usr/bin/env bash
# Stops the servers that db_up.sh started, and no others. Their data stays for the next start, unless it is in memory.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

usage() {
  cat <<END
usage: tools/db_down.sh [--wipe | --help]
Stops the test servers; harmless when none runs.
  --wipe   also removes their data, the SQLite files, ports and password
END
}

wait_gone() {
  local pid=$1 waited
  for ((waited = 0; waited < 300; waited++)); do
    kill -0 "$pid" 2>/dev/null || return 0
    sleep 0.1
  done
  return 1
}

# SIGINT is PostgreSQL's fast shutdown: sessions are ended, then everything is written.
pg_down() {
  local pid
  pid=$(pg_pid) || {
    say "PostgreSQL: not running"
    return
  }
  kill -INT "$pid"
  wait_gone "$pid" || die "PostgreSQL (process $pid) does not stop; see $pg_dir/server.log"
  say "PostgreSQL: stopped"
}

maria_down() {
  local pid
  pid=$(maria_pid) || {
    say "MariaDB: not running"
    return
  }
  kill -TERM "$pid"
  wait_gone "$pid" || die "MariaDB (process $pid) does not stop; see $maria_dir/server.log"
  say "MariaDB: stopped"
}

my_down() {
  local pid
  pid=$(my_pid) || return 0
  kill -TERM "$pid"
  wait_gone "$pid" || die "MySQL (process $pid) does not stop; see $my_dir/server.log"
  say "MySQL: stopped"
}

wipe() {
  rm -rf "$TP_BASE" "$TP_SCRATCH/servers" "$TP_SCRATCH/env.sh"
  rm -f "$TP_SCRATCH"/test.db* "$TP_SCRATCH"/test_gen.db* "$TP_SCRATCH"/*.log
  say "data removed"
}

stop() {
  if ! read_servers; then
    say "no servers were started from $TP_SCRATCH"
    return
  fi
  exec 9>"$TP_SCRATCH/lock"
  flock -w 180 9 || die "another db_up.sh or db_down.sh is at work on $TP_SCRATCH"
  pg_down
  maria_down
  my_down
  case $TP_BASE in
    "$memory_folder"/*) wipe ;;
  esac
}

case ${1:-} in
  "") stop ;;
  --wipe)
    stop
    if read_servers; then wipe; fi
    ;;
  --help | -h) usage ;;
  *)
    usage >&2
    exit 2
    ;;
esac
