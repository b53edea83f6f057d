#!/usr/bin/env bash
# tools/db_up.sh --only postgres, which tools/bench.sh --only postgres calls, starts PostgreSQL where no MariaDB is installed; tests on MySQL are
# skipped, and not failed, where the archive that has it is out of reach.
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

# An archive that refuses the connection.
on_mysql() {
  local code=0
  env -u TASKPOOL_TEST_DSN_MYSQL TP_SCRATCH="$scratch/none" TASKPOOL_TEST_REQUIRE=1 "$root/tests/support/on_database.sh" mysql true >/dev/null 2>&1 ||
    code=$?
  echo $code
}

without_archive() {
  local code=0
  printf 'Acquire::http::Proxy "http://127.0.0.1:9";\nAcquire::https::Proxy "http://127.0.0.1:9";\n' >"$scratch/apt.conf"
  expect "without MySQL, code of a test on it" "$(on_mysql)" 1
  env APT_CONFIG="$scratch/apt.conf" TP_SCRATCH="$scratch/none" TP_MYSQL="$scratch/none/server" "$root/tools/fetch_mysql.sh" >"$scratch/log" 2>&1 || code=$?
  expect "fetch_mysql.sh without the archive, code" $code 3
  expect "fetch_mysql.sh without the archive, lines that say so" "$(grep -c 'NOT THERE' "$scratch/log")" 1
  expect "without the archive, code of a test on MySQL" "$(on_mysql)" 77
}

# As many processes ask for ports at the same time as several runs of the tests do in days.
ports_side_by_side() {
  local i
  for ((i = 0; i < 20; i++)); do
    TP_SCRATCH=$scratch bash -c '. "$1"; for ((i = 0; i < 20; i++)); do port=$(free_port); printf "%s\n" "$port"; done' bash "$root/tools/lib.sh" >"$scratch/ports.$i" &
  done
  wait
  expect "free_port gives 20 processes 20 ports each, different ones" "$(sort -u "$scratch"/ports.* | wc -l)" 400
}

ports_side_by_side
without_archive
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
