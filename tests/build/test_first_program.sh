#!/usr/bin/env bash
# The first C program in README.md is examples/first.c, letter by letter, and it runs. So do the commands with which README.md
# and docs/cli.md begin, and those of docs/languages.md, as they are pasted.
# usage: test_first_program.sh PATH_OF_first PATH_OF_taskpool LIBRARY
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
[ $# = 3 ] || die "usage: test_first_program.sh FIRST TASKPOOL LIBRARY"

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

# paste PAGE NAME: the indented block of $root/PAGE that begins by setting TASKPOOL_DSN, with NAME.db in a folder of its own.
paste() {
  mkdir "$scratch/$2"
  ln -s "$root/examples" "$scratch/$2/examples"
  awk '/^    export TASKPOOL_DSN=/ { inside = 1 } inside && !/^    / { exit } inside' "$root/$1" |
    sed "s|/tmp/$2\.db|$scratch/$2/$2.db|" >"$scratch/$2.sh"
  (cd "$scratch/$2" && PATH=${taskpool%/*}:$PATH bash -e ../"$2.sh") >"$scratch/$2.out" 2>"$scratch/$2.err" ||
    bad "$1: a pasted command fails: $(tail -n 3 "$scratch/$2.err")"
}

pasted_commands_run() {
  paste README.md points
  expect "what grant.sh prints" "$(grep '^granting' "$scratch/points.out" | sort | tr '\n' '|')" \
    'granting points: {"order":"8"}|granting points: {"order":"9"}|granting points: {"order":7}|'
  expect "README.md: what stats counts" "$(awk '/^finished +points +done / { print $4 }' "$scratch/points.out")" 3
  paste docs/cli.md tasks
  expect "docs/cli.md: what cat prints" "$(grep '^{' "$scratch/tasks.out")" '{"name":"world"}'
  export PYTHONDONTWRITEBYTECODE=1 TASKPOOL_LIBRARY=$library
  paste docs/languages.md pay
  expect "docs/languages.md: what is paid" "$(tr '\n' '|' <"$scratch/pay.out")" '2026-11: 2 tasks|2 2 3000.5|'
}

attempt "README.md's first C block is examples/first.c" same_as_readme || true
runs "$1"
tells_a_mistake "$1"
taskpool=$2 library=$3
pasted_commands_run
finish
