#!/usr/bin/env bash
# The first C program in README.md is examples/first.c, letter by letter, and it runs.
# usage: test_first_program.sh PATH_OF_first
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
[ $# = 1 ] || die "usage: test_first_program.sh PROGRAM"

first_c_block() {
  awk '/^```c$/ { inside = 1; next } inside && /^```$/ { exit } inside' "$1"
}

same_as_readme() {
  first_c_block "$root/README.md" >"$scratch/readme.c" || return 1
  diff -u "$root/examples/first.c" "$scratch/readme.c"
}

runs() {
  local said code=0
  said=$(TASKPOOL_DSN=$(sqlite_dsn "$scratch/first.db") "$1" 2>&1) || code=$?
  expect "the exit code" "$code" 0
  expect "what it prints" "$said" 'granting points: {"order":7}'
}

# It says what is wrong instead of nothing.
tells_a_mistake() {
  local said code=0
  said=$(TASKPOOL_DSN=$(sqlite_dsn "$scratch/no/such/folder/x.db") "$1" 2>&1) || code=$?
  expect "the exit code without a database" "$code" 1
  if [ -n "$said" ]; then ok; else bad "it says nothing without a database"; fi
}

attempt "README.md's first C block is examples/first.c" same_as_readme || true
runs "$1"
tells_a_mistake "$1"
finish
