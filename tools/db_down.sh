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

down() {
  local name=$1 signal=$2 pid=$3 folder=$4 waited
  if [ -z "$pid" ]; then
    say "$name: not running"
    return
  fi
  kill "-$signal" "$pid"
  for ((waited = 0; waited < 300; waited++)); do
    kill -0 "$pid" 2>/dev/null || {
      say "$name: stopped"
      return
    }
    sleep 0.1
  done
  die "$name (process $pid) does not stop; see $folder/server.log"
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
  # SIGINT is PostgreSQL's fast shutdown: sessions are ended, then everything is written.
  down PostgreSQL INT "$(pg_pid)" "$pg_dir"
  down MariaDB TERM "$(maria_pid)" "$maria_dir"
  [ -z "$(my_pid)" ] || down MySQL TERM "$(my_pid)" "$my_dir"
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
