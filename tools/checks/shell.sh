#!/usr/bin/env bash
# The repository's shell scripts pass shellcheck, which names the place and the cure of what it finds.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)

check() {
  cd "$1"
  find . \( -name .git -o -name .scratch -o -name node_modules -o -path './build*' \) -prune -o \
    -type f \( -name '*.sh' -o -path './.ci/*' \) -print0 |
    xargs -0r shellcheck -x --format=gcc
}

# shellcheck disable=SC2016 # the scripts made here hold the dollar signs
self_test() {
  local tree
  tree=$(mktemp -d)
  printf '#!/bin/sh\necho "$1"\n' >"$tree/a.sh"
  (check "$tree") >/dev/null || { echo "self-test: refuses a good script" && exit 1; }
  printf '#!/bin/sh\nrm $1\n' >"$tree/a.sh"
  if (check "$tree") >/dev/null; then
    echo "self-test: takes a bad script"
    exit 1
  fi
  rm -rf "$tree"
}

if ! command -v shellcheck >/dev/null; then
  echo "SKIPPED: shellcheck is not installed" >&2
  [ -z "${TASKPOOL_TEST_REQUIRE:-}" ]
  exit
fi
if [ "${1:-}" = --self-test ]; then self_test; else check "$root"; fi
