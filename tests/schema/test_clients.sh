#!/usr/bin/env bash
# Tables made and tasks put in by the database's own client, without the library; the library then sees, claims
# and completes them. Works in a schema, prefix or file of its own.
# usage: on_database.sh ENTRY test_clients.sh PATH_OF_taskpool
set -euo pipefail
[ $# = 1 ] || {
  echo "usage: test_clients.sh PATH_OF_taskpool" >&2
  exit 2
}
taskpool=$1
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
entry=$TASKPOOL_TEST_ENTRY
dsn=${TASKPOOL_TEST_DSN%;}
scratch=$(mktemp -d)
space=k$(od -An -N4 -tx4 /dev/urandom | tr -d ' ')
prefix=tp_
passed=0
failed=0
umask 077

# ---- Checks --------------------------------------------------------------------------------------------

bad() {
  failed=$((failed + 1))
  printf 'FAILED: %s\n' "$*" >&2
}

# expect WHAT FOUND WANTED
expect() {
  if [ "$2" = "$3" ]; then passed=$((passed + 1)); else bad "$1 is \"$2\", must be \"$3\""; fi
}

# attempt WHAT COMMAND...: output is shown only if it fails.
attempt() {
  local what=$1
  shift
  if "$@" >"$scratch/log" 2>&1; then
    passed=$((passed + 1))
  else
    bad "$what"
    tail -n 20 "$scratch/log" >&2
  fi
}

# The command fails, and says nothing else.
attempt_telling() {
  local what=$1 message=$2
  shift 2
  if ! "$@" >"$scratch/log" 2>&1 && ! grep -v "$message" "$scratch/log" | grep -q .; then
    passed=$((passed + 1))
  else
    bad "$what"
    tail -n 20 "$scratch/log" >&2
  fi
}

skip() {
  echo "SKIPPED: $*"
  [ "${TASKPOOL_TEST_REQUIRE:-0}" != 1 ] || exit 1
  exit 77
}

need() {
  command -v "$1" >/dev/null || skip "the client $1 is not installed"
}

# ---- The clients: run FILE, ask SQL ----------------------------------------------------------------------

# The value of a key of the connection string, without braces.
dsn_key() {
  local value
  value=$(printf '%s' "$dsn" | grep -oiP "(^|;)\s*$1\s*=\s*\K(\{(?:[^}]|\}\})*\}|[^;]*)" | head -n 1)
  if [[ $value == \{*\} ]]; then
    value=${value:1:-1}
    value=${value//\}\}/\}}
  fi
  printf '%s' "$value"
}

sqlite_client() {
  sqlite3 -bail "$(dsn_key Database)"
}

postgres_client() {
  PGPASSFILE=$scratch/pgpass PGOPTIONS="-c search_path=$space -c client_min_messages=warning" PGCLIENTENCODING=UTF8 \
    psql -XqAt -v ON_ERROR_STOP=1 -h "$(dsn_key Server)" -p "$(dsn_key Port)" -U "$(dsn_key UID)" -d "$(dsn_key Database)"
}

mariadb_client() {
  mariadb --defaults-extra-file="$scratch/my.cnf" --batch --skip-column-names "${mariadb_options[@]}"
}

postgres_login() {
  local password
  password=$(dsn_key PWD)
  password=${password//\\/\\\\}
  printf '*:*:*:*:%s\n' "${password//:/\\:}" >"$scratch/pgpass"
}

mariadb_login() {
  local password
  password=$(dsn_key PWD)
  password=${password//\\/\\\\}
  printf '[client]\nprotocol=tcp\nhost=%s\nport=%s\nuser=%s\npassword="%s"\n' "$(dsn_key Server)" \
    "$(dsn_key Port)" "$(dsn_key UID)" "${password//\"/\\\"}" >"$scratch/my.cnf"
  mariadb_options=(--default-character-set=utf8mb4 --database="$(dsn_key Database)")
}

# For another prefix replace tp_ throughout, as the scripts say.
with_prefix() {
  sed "s/\btp_/$prefix/g" "$@"
}

ask() {
  printf '%s;\n' "$1" | with_prefix | "$client"
}

run_script() {
  with_prefix "$1" | "$client"
}

# ---- Entries --------------------------------------------------------------------------------------------

set_up() {
  long_text=CLOB
  case $entry in
  *sqlite)
    need sqlite3
    client=sqlite_client
    ;;
  *postgres)
    need psql
    client=postgres_client long_text=text
    postgres_login
    printf 'CREATE SCHEMA %s;\n' "$space" | postgres_client
    dsn="$dsn;ConnSettings={set search_path to $space}"
    ;;
  *mariadb | *mysql | oramode)
    need mariadb
    client=mariadb_client prefix=${space}_ long_text=LONGTEXT
    mariadb_login
    [ "$entry" != oramode ] || mariadb_options+=(--init-command="SET sql_mode=CONCAT(@@sql_mode,',ORACLE,EMPTY_STRING_IS_NULL')")
    dsn="$dsn;Prefix=$prefix"
    ;;
  *) echo "NOT TRIED on $entry: the scripts by its own client" && exit 77 ;;
  esac
  case $entry in
  generic_*) dialect=generic ;;
  mariadb | mysql) dialect=mysql ;;
  oramode) dialect=oracle ;;
  *) dialect=$entry ;;
  esac
  export TASKPOOL_DSN=$dsn
}

tear_down() {
  case ${client:-} in
  postgres_client) printf 'DROP SCHEMA IF EXISTS %s CASCADE;\n' "$space" | postgres_client || true ;;
  mariadb_client) run_script "$root/sql/$dialect/admin/drop.sql" >/dev/null 2>&1 || true ;;
  esac
  rm -rf "$scratch"
}
trap tear_down EXIT

# sqlplus ends a function by a line with /, which the client of the stand-in does not know. Oracle's tables come by the library
# there.
install_oracle_stand_in() {
  "$TASKPOOL_TEST_PREPARE" "$prefix"
  "$taskpool" schema install
}

install() {
  case $dialect in
  oracle)
    attempt "the stand-in's functions and the tables" install_oracle_stand_in
    return
    ;;
  generic) sed "s/\bCLOB\b/$long_text/" "$root"/sql/generic/schema/*.sql >"$scratch/schema.sql" ;;
  *) cat "$root/sql/$dialect"/schema/*.sql >"$scratch/schema.sql" ;;
  esac
  attempt "the scripts of sql/$dialect/schema run in $client" run_script "$scratch/schema.sql"
  case $dialect in
  generic) ;;
  # It has no ADD COLUMN IF NOT EXISTS: what is there is told and stays.
  sqlite) attempt_telling "they run there again" 'duplicate column name' run_script "$scratch/schema.sql" ;;
  *) attempt "they run there again" run_script "$scratch/schema.sql" ;;
  esac
}

# ---- What is checked --------------------------------------------------------------------------------------

print_is_the_files() {
  local name
  for name in sqlite postgres mysql oracle generic; do
    cat "$root/sql/$name"/schema/*.sql | sed "s/\btp_/pay_/g" >"$scratch/wanted.sql"
    "$taskpool" schema print --dialect "$name" --prefix pay_ >"$scratch/printed.sql"
    attempt "schema print --dialect $name is the files of sql/$name/schema" \
      diff -u "$scratch/wanted.sql" "$scratch/printed.sql"
  done
  cat "$root/sql/$dialect"/schema/*.sql | with_prefix >"$scratch/wanted.sql"
  "$taskpool" schema print >"$scratch/printed.sql"
  attempt "schema print by the connection string is the same" diff -u "$scratch/wanted.sql" "$scratch/printed.sql"
}

# The generic scripts have no defaults for ids and times.
produce() {
  local names='' first='' second=''
  if [ "$dialect" = generic ]; then
    names=', id, due_at, created_at, modified_at'
    first=", '00000000-0000-4000-8000-000000000001', 1, 1, 1"
    second=", '00000000-0000-4000-8000-000000000002', 1, 1, 1"
  fi
  ask "INSERT INTO tp_pending (handler, params$names) VALUES ('points', '{\"order\":7}'$first)" &&
    ask "INSERT INTO tp_pending (handler, params, biz_key, priority$names)
         VALUES ('points', '工资 😀 it''s', '员工-1', 3$second)"
}

library_sees_them() {
  expect "tasks that list sees" "$("$taskpool" list --json | grep -c '"points"')" 2
  expect "their states" "$(ask "SELECT DISTINCT state FROM tp_tasks")" pending
}

library_does_them() {
  cat >"$scratch/handler" <<END
#!/bin/sh
{ cat; echo; echo "\$TASKPOOL_BIZ_KEY"; } >>"$scratch/done"
END
  chmod +x "$scratch/handler"
  attempt "work --drain" timeout 900 "$taskpool" work --drain --threads 1 --poll 100ms --handler "points=$scratch/handler"
  expect "what the handler was given" "$(cat "$scratch/done" 2>&1)" $'{"order":7}\n\n工资 😀 it\'s\n员工-1'
  expect "tasks still pending" "$(ask "SELECT COUNT(*) FROM tp_pending")" 0
  expect "tasks done, as the client sees it" "$(ask "SELECT COUNT(*) FROM tp_tasks WHERE pool = 'finished' AND state = 'done'")" 2
}

library_s_are_seen() {
  attempt "enqueue" "$taskpool" enqueue mail '{"to":"工"}'
  expect "a task of the library, as the client sees it" "$(ask "SELECT params FROM tp_pending WHERE handler = 'mail'")" '{"to":"工"}'
}

# The generic tables have no defaults for it.
example_runs() {
  [ "$dialect" != generic ] || return 0
  attempt "examples/producer.sql runs in $client" run_script "$root/examples/producer.sql"
  expect "its tasks, as the library sees them" \
    "$("$taskpool" list --json | grep -cE '"handler":"(points|pay)"|"biz_key":"order-7"')" 3
}

drop_takes_all_away() {
  local code=0 name
  attempt "the script sql/$dialect/admin/drop.sql runs in $client" run_script "$root/sql/$dialect/admin/drop.sql"
  "$taskpool" schema check >"$scratch/log" 2>&1 || code=$?
  expect "the exit code of schema check after it" "$code" 5
  for name in pending finished failed history once schedule worker pause meta; do
    if ask "SELECT COUNT(*) FROM tp_$name" >/dev/null 2>&1; then bad "the drop script leaves tp_$name"; fi
  done
}

set_up
print_is_the_files
install
attempt "schema check" "$taskpool" schema check
attempt "producing by $client" produce
library_sees_them
library_does_them
library_s_are_seen
example_runs
drop_takes_all_away
echo "$entry: $passed passed, $failed failed"
[ $failed = 0 ] && [ $passed -ge 15 ]
