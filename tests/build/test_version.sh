#!/usr/bin/env bash
# One version: header, library, program, pkg-config and CMake package say the same, and the SONAME its first
# number. usage: test_version.sh BUILD_DIR
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
[ $# = 1 ] || die "usage: test_version.sh BUILD_DIR"

# The value of a #define in taskpool.h.
defined() {
  sed -n "s/^#define $1 *\"\{0,1\}\([0-9.]*\)\"\{0,1\} *$/\1/p" "$root/include/taskpool.h"
}

version_of_library() {
  printf '#include <stdio.h>\n#include <taskpool.h>\nint main(void) { return puts(tp_version()) < 0; }\n' \
    >"$scratch/v.c"
  # shellcheck disable=SC2046 # flags are words
  cc "${flags[@]}" -o "$scratch/v" "$scratch/v.c" $(pkg-config --cflags --libs taskpool) && "$scratch/v"
}

install_build "$1"
version=$(defined TP_VERSION)
major=$(defined TP_VERSION_MAJOR)
expect "TP_VERSION" "$version" "$major.$(defined TP_VERSION_MINOR).$(defined TP_VERSION_PATCH)"
expect "pkg-config's version" "$(pkg-config --modversion taskpool)" "$version"
expect "tp_version()" "$(version_of_library)" "$version"
expect "taskpool --version" "$("$prefix/bin/taskpool" --version)" "taskpool $version"
expect "the CMake package's version" \
  "$(sed -n 's/^set(PACKAGE_VERSION "\(.*\)")$/\1/p' "$libdir"/cmake/taskpool/taskpool-config-version.cmake)" "$version"
expect "SONAME" "$(soname_of "$libdir/libtaskpool.so")" "libtaskpool.so.$major"
expect "the library file" "$(basename "$(readlink -f "$libdir/libtaskpool.so")")" "libtaskpool.so.$version"
finish
