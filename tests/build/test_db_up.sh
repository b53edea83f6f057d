#!/usr/bin/env bash
# tools/db_up.sh --only postgres, which tools/bench.sh --only postgres calls, starts PostgreSQL where no MariaDB is installed.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

# All programs but MariaDB's, and all drivers but its.
hide_mariadb() {
  local folder
  mkdir "$scratch/bin" "$scratch/odbc"
  for folder in /usr/sbin /usr/bin /usr/local/bin; do
    find "$folder" -maxdepth 1 ! -type d ! -name '*maria*' ! -name '*mysql*' -exec ln -sf -t "$scratch/bin" {} +
  done
  cp "$(odbcinst -j | sed -n 's/^DRIVERS\.*: //p')" "$scratch/odbcinst.ini"
  awk '/^\[/ { keep = !/^\[Maria/ } keep' "$scratch/odbcinst.ini" >"$scratch/odbc/odbcinst.ini"
}

# shellcheck disable=SC2016 # for the other shell
if ! TP_SCRATCH=$scratch bash -c '. "$1" && find_pg_bin' bash "$root/tools/lib.sh" >/dev/null; then
  skip "PostgreSQL is not installed"
  if [ $failed = 0 ]; then exit 77; else exit 1; fi
fi
hide_mariadb
chmod 755 "$scratch"
without() {
  env PATH="$scratch/bin" ODBCSYSINI="$scratch/odbc" TP_SCRATCH="$scratch/servers" "$@"
}
attempt "db_up.sh --only postgres" without "$root/tools/db_up.sh" --only postgres || true
attempt "db_down.sh --wipe" without "$root/tools/db_down.sh" --wipe || true
if without "$root/tools/db_up.sh" >"$scratch/log" 2>&1; then
  bad "db_up.sh starts both servers though MariaDB is missing"
elif grep -q 'is missing' "$scratch/log"; then
  ok
else
  bad "db_up.sh does not say what is missing: $(cat "$scratch/log")"
fi
finish
