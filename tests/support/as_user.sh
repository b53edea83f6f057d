#!/usr/bin/env bash
# as_user.sh ROLE TASKPOOL PROGRAM ARGS...: through on_database.sh; runs a test program whose operations are done by a user
# who has that role of sql/DIALECT/admin/grants.sql and nothing else. The pool's owner makes the tables, the server's
# administrator the user; both are gone at the end. ROLE may be two, as viewer+operator: the second user's connection
# string is in TASKPOOL_TEST_OTHER_DSN.
set -euo pipefail
role=${1%+*} other=${1#*+} taskpool=$2
shift 2
root=$(cd "$(dirname "$0")/../.." && pwd)
prefix="u$(od -An -N4 -tx4 /dev/urandom | tr -d ' ')_"
users=("${prefix}u$role")
[ "$other" = "$role" ] || users+=("${prefix}u$other")
password=$(od -An -N18 -tx1 /dev/urandom | tr -d ' \n')
dsn=${TASKPOOL_TEST_DSN%;}
database=${dsn##*Database=}
database=${database%%;*}

case $TASKPOOL_TEST_ENTRY in
*postgres*)
  admin() {
    PGOPTIONS='-c client_min_messages=error' "$TASKPOOL_TEST_PG_BIN/psql" -XqAt -v ON_ERROR_STOP=1 \
      -h "$TASKPOOL_TEST_PG_SOCKET" -p "$TASKPOOL_TEST_PG_PORT" -U postgres -d "$database"
  }
  make_user() {
    printf "CREATE ROLE %s LOGIN PASSWORD '%s' IN ROLE %s%s;\n" "$1" "$password" "$prefix" "$2"
  }
  own_effects() { printf 'ALTER TABLE %sfx OWNER TO taskpool;\n' "$prefix"; }
  remove_roles() {
    for name in "${users[@]}"; do printf 'DROP OWNED BY %s; DROP ROLE %s;\n' "$name" "$name"; done
    for name in producer worker requester viewer administrator approver operator; do printf 'DROP OWNED BY %s%s; DROP ROLE %s%s;\n' "$prefix" "$name" "$prefix" "$name"; done
  }
  ;;
*)
  admin() { mariadb --no-defaults --socket="$TASKPOOL_TEST_MARIADB_SOCKET" --user=root "$database"; }
  make_user() {
    printf "CREATE USER %s@'%%' IDENTIFIED BY '%s';\nGRANT %s%s TO %s@'%%';\n" "$1" "$password" "$prefix" "$2" "$1"
    printf "SET DEFAULT ROLE %s%s $to %s@'%%';\n" "$prefix" "$2" "$1"
  }
  if [ "$TASKPOOL_TEST_ENTRY" = mysql ]; then to=TO; else to=FOR; fi
  own_effects() { :; }
  remove_roles() {
    printf "DROP USER IF EXISTS %s@'%%';\n" "${users[@]}"
    for name in producer worker requester viewer administrator approver operator; do printf 'DROP ROLE IF EXISTS %s%s;\n' "$prefix" "$name"; done
  }
  ;;
esac

# The stand-in for Oracle wants to hear what kind of thing is executed, and has no READ.
grants() {
  local dialect=$1
  sed -e "s/tp_/$prefix/g" "$root/sql/$dialect/admin/grants.sql" |
    if [ "$TASKPOOL_TEST_ENTRY" = oramode ]; then sed 's/EXECUTE ON /EXECUTE ON FUNCTION /; s/GRANT READ ON /GRANT SELECT ON /'; else cat; fi
}

# The application's own table is the application's affair.
make_effects() {
  printf 'CREATE TABLE %sfx (task_id VARCHAR(36) NOT NULL, note VARCHAR(40));\n' "$prefix"
  own_effects
  printf 'GRANT SELECT, INSERT ON %sfx TO %s%s;\n' "$prefix" "$prefix" "$role"
}

clean_up() { remove_roles | admin >/dev/null 2>&1 || echo "as_user.sh: roles $prefix... are left" >&2; }

if [ -n "${TASKPOOL_TEST_PREPARE:-}" ]; then "$TASKPOOL_TEST_PREPARE" "$prefix"; fi
TASKPOOL_DSN="$dsn;Prefix=$prefix" "$taskpool" schema install --quiet
case $TASKPOOL_TEST_ENTRY in
*postgres) dialect=postgres ;;
oramode) dialect=oracle ;;
*) dialect=mysql ;;
esac
trap clean_up EXIT
{
  grants "$dialect"
  make_effects
  make_user "${users[0]}" "$role"
  [ "$other" = "$role" ] || make_user "${users[1]}" "$other"
} | admin
export TASKPOOL_TEST_PREFIX=$prefix TASKPOOL_TEST_USER=$role
dsn_of() { printf '%s' "$dsn" | sed "s/UID=[^;]*/UID=$1/; s/PWD=[^;]*/PWD=$password/"; }
TASKPOOL_TEST_USER_DSN=$(dsn_of "${users[0]}")
TASKPOOL_TEST_OTHER_DSN=$(dsn_of "${users[-1]}")
export TASKPOOL_TEST_USER_DSN TASKPOOL_TEST_OTHER_DSN
"$@"
