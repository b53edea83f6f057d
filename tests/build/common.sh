# Shared by the tests in this folder: messages, skips, a scratch folder, an installed copy of a build. Sourced.
# shellcheck shell=bash disable=SC2034

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
passed=0
skipped=0
failed=0

say() {
  printf '%s\n' "$*"
}

die() {
  printf '%s: %s\n' "${0##*/}" "$*" >&2
  exit 1
}

# Checks go on after a failure: one run tells everything.
ok() {
  passed=$((passed + 1))
}

bad() {
  failed=$((failed + 1))
  printf 'FAILED: %s\n' "$*" >&2
}

# Loud, and a failure where TASKPOOL_TEST_REQUIRE says that everything has to be there.
skip() {
  skipped=$((skipped + 1))
  printf 'SKIPPED: %s\n' "$*" >&2
  [ -z "${TASKPOOL_TEST_REQUIRE:-}" ] || bad "$* (TASKPOOL_TEST_REQUIRE is set)"
}

# expect WHAT FOUND WANTED
expect() {
  if [ "$2" = "$3" ]; then ok; else bad "$1 is \"$2\", must be \"$3\""; fi
}

finish() {
  say "$passed passed, $skipped skipped, $failed failed"
  [ $failed = 0 ] && [ $passed -gt 0 ]
}

# attempt WHAT COMMAND...: the command's output is shown only if it fails.
attempt() {
  local what=$1
  shift
  if "$@" >"$scratch/attempt.log" 2>&1; then
    ok
    return 0
  fi
  tail -n 40 "$scratch/attempt.log" >&2
  bad "$what"
  return 1
}

sqlite_dsn() {
  printf 'Driver=SQLite3;Database=%s;' "$1"
}

# install_build BUILD_DIR: sets prefix, libdir where the libraries went, and flags, what programs have to be compiled
# with. pkg-config and the loader find it.
install_build() {
  local file sanitize
  [ -f "$1/CMakeCache.txt" ] || die "$1 is no build folder"
  prefix=$scratch/prefix
  attempt "cmake --install $1" cmake --install "$1" --prefix "$prefix" || exit 1
  file=$(find "$prefix" -name taskpool.pc)
  [ -n "$file" ] || die "no taskpool.pc was installed"
  export PKG_CONFIG_PATH=${file%/*}
  libdir=${file%/pkgconfig/*}
  export LD_LIBRARY_PATH=$libdir
  flags=(-Wall -Wextra -Werror)
  sanitize=$(sed -n 's/^TASKPOOL_SANITIZE:[A-Z]*=//p' "$1/CMakeCache.txt")
  [ -z "$sanitize" ] || flags+=("-fsanitize=$sanitize")
}

soname_of() {
  readelf -d "$1" | sed -n 's/.*Library soname: \[\(.*\)\].*/\1/p'
}

# Does program $1 load library taskpool at run time?
needs_taskpool() {
  readelf -d "$1" | grep -q 'NEEDED.*libtaskpool\.so'
}
