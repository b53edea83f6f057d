# A pool of its own for a test of taskpool(1) in a shell, on the database of TASKPOOL_DSN (or TASKPOOL_TEST_DSN) under a
# random prefix, and how the program is run there and checked. Sourced; goes into a folder of its own. PATH_TO_TASKPOOL is
# the test's first argument.
# shellcheck shell=bash disable=SC2034
set -u
export LC_ALL=C.UTF-8

TASKPOOL=$(realpath "${1:?usage: ${0##*/} PATH_TO_TASKPOOL}")
HERE=$(dirname "$(realpath "$0")")
BASE_DSN=${TASKPOOL_DSN:-${TASKPOOL_TEST_DSN:?set TASKPOOL_DSN to the ODBC connection string of the database to test on}}
PREFIX="c$(od -An -N4 -tx4 /dev/urandom | tr -d ' ')_"
DSN="${BASE_DSN%;};Prefix=$PREFIX"
export TASKPOOL_DSN=$DSN
DIR=$(mktemp -d)
trap 'rm -rf "$DIR"' EXIT
cd "$DIR" || exit 2
passed=0
failed=0
skipped=0

# run ARGS...: runs taskpool; leaves $code, and ./out and ./err.
run() {
    feed /dev/null "$@"
}

# Nothing that it says holds the password of the tests' databases.
hides_password() {
    [ -z "${TASKPOOL_TEST_PASSWORD:-}" ] || [[ "$(<out)$(<err)" != *"$TASKPOOL_TEST_PASSWORD"* ]] ||
        not_ok "no password is told" "it is, by $1"
}

# feed FILE ARGS...: the same with standard input.
feed() {
    local input=$1
    shift
    timeout 900 "$TASKPOOL" "$@" >out 2>err <"$input"
    code=$?
    hides_password "$@"
}

ok() {
    passed=$((passed + 1))
    echo "ok - $1"
}

not_ok() {
    failed=$((failed + 1))
    echo "not ok - $1: $2"
    sed 's/^/    out: /' out | head -5
    sed 's/^/    err: /' err | head -5
}

skip() {
    skipped=$((skipped + 1))
    echo "ok - $1 # SKIPPED: $2"
}

# expect NAME CODE [OUT_REGEX [ERR_REGEX]]: of the last run; CODE may be 4|6. A message is one line that begins with
# the program's name.
expect() {
    local name=$1 want=$2 out=${3:-} err=${4:-}
    if ! [[ $code =~ ^($want)$ ]]; then
        not_ok "$name" "exit code $code, not $want"
    elif [ -n "$out" ] && ! grep -qE -- "$out" out; then
        not_ok "$name" "no output like '$out'"
    elif [ -n "$err" ] && ! grep -qE -- "^taskpool: .*$err" err; then
        not_ok "$name" "no message like '$err'"
    else
        ok "$name"
    fi
}

# expect_that NAME COMMAND...: the command succeeds.
expect_that() {
    local name=$1
    shift
    if "$@"; then ok "$name"; else not_ok "$name" "false: $*"; fi
}

is() {
    [ "$1" = "$2" ] || { echo "    got '$1', wanted '$2'"; return 1; }
}

lines_of() {
    wc -l <"$1" | tr -d ' '
}

# count POOL HANDLER: how many tasks
count() {
    "$TASKPOOL" list --json --pool "$1" --handler "$2" --limit 100000 2>/dev/null | wc -l | tr -d ' '
}

# The test's result.
finish() {
    echo "$passed passed, $failed failed, $skipped skipped"
    [ $failed = 0 ] && [ $passed -gt 0 ]
}
