#!/usr/bin/env bash
# Looks for the test databases' password in all that the builds, the tests and the checks wrote. The servers' own logs
# are left out: they get the password when the users are made. Nothing to look through is a failure too.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

usage() {
  cat <<END
usage: tools/leaks.sh [--self-test | --help]
Looks in build/*/Testing/ (all output of all tests, as ctest keeps it) and in \$TP_SCRATCH/log (the output of tools/test.sh,
tools/proof.sh and their steps) for the password in \$TP_SCRATCH/servers.
END
}

# look ROOT LOGS PASSWORD: says which files hold it, and how much was looked through.
look() {
  local root=$1 logs=$2 password=$3 tests=() files=() found
  [ "${#password}" -ge 16 ] || {
    complain "the databases' password is not known, or too short to be told from other text"
    return 1
  }
  mapfile -t tests < <(find "$root"/build/*/Testing -name '*.log' -type f -size +0 2>/dev/null)
  mapfile -t files < <(find "$logs" -type f -size +0 2>/dev/null)
  if [ ${#tests[@]} = 0 ] || [ ${#files[@]} = 0 ]; then
    complain "no output of tests or no log is there to look through"
    return 1
  fi
  # By a pipe, so that no process list shows it.
  found=$(grep -lF -f <(printf '%s\n' "$password") -- "${tests[@]}" "${files[@]}" || [ $? = 1 ])
  if [ -n "$found" ]; then
    complain "the password stands in:" "$found"
    return 1
  fi
  say "no password in ${#tests[@]} logs of tests and ${#files[@]} others, $(cat "${tests[@]}" "${files[@]}" | wc -c) bytes"
}

# Shows that it finds a password, in either place, and that it does not pass when there is nothing.
self_test() {
  local folder secret=0123456789abcdef0123
  folder=$(mktemp -d)
  # shellcheck disable=SC2064 # now
  trap "rm -rf '$folder'" EXIT
  mkdir -p "$folder/build/debug/Testing/Temporary" "$folder/log"
  expect_bad() { ! look "$folder" "$folder/log" "$secret" >/dev/null 2>&1 || die "self-test: passes $1"; }
  expect_bad "without any output"
  echo "a test" >"$folder/build/debug/Testing/Temporary/LastTest.log"
  expect_bad "without logs"
  echo "a step" >"$folder/log/all.log"
  look "$folder" "$folder/log" "$secret" >/dev/null || die "self-test: finds what is not there"
  printf 'PWD=%s;' "$secret" >>"$folder/log/all.log"
  expect_bad "a password in a log"
  echo >"$folder/log/all.log"
  printf '\0x%sx' "$secret" >>"$folder/build/debug/Testing/Temporary/LastTest.log"
  expect_bad "a password in the output of a test"
  secret=short
  expect_bad "a password that is not known"
}

case ${1:-} in
  "")
    read_servers || die "no servers were started: run tools/db_up.sh"
    look "$TP_ROOT" "$TP_SCRATCH/log" "${TP_DB_PASSWORD:-}"
    ;;
  --self-test) self_test ;;
  --help | -h) usage ;;
  *)
    usage >&2
    exit 2
    ;;
esac
