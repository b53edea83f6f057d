#!/usr/bin/env bash
# One version: header, library, program, pkg-config and CMake package say the same. The SONAME has as much of it as must be the
# same for CMake's package: before 1.0 the minor version too. usage: test_version.sh BUILD_DIR
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

# What find_package is told where a version is wanted.
fits_wanted() {
  cat >"$scratch/fits.cmake" <<END
set(PACKAGE_FIND_VERSION $1)
string(REPLACE "." ";" numbers $1)
list(GET numbers 0 PACKAGE_FIND_VERSION_MAJOR)
list(GET numbers 1 PACKAGE_FIND_VERSION_MINOR)
include($libdir/cmake/taskpool/taskpool-config-version.cmake)
file(WRITE $scratch/fits "\${PACKAGE_VERSION_COMPATIBLE}")
END
  cmake -P "$scratch/fits.cmake" && cat "$scratch/fits"
}

install_build "$1"
version=$(defined TP_VERSION)
major=$(defined TP_VERSION_MAJOR)
minor=$(defined TP_VERSION_MINOR)
soversion=$major
[ "$major" != 0 ] || soversion=0.$minor
expect "TP_VERSION" "$version" "$major.$minor.$(defined TP_VERSION_PATCH)"
expect "pkg-config's version" "$(pkg-config --modversion taskpool)" "$version"
expect "tp_version()" "$(version_of_library)" "$version"
expect "taskpool --version" "$("$prefix/bin/taskpool" --version)" "taskpool $version"
expect "the CMake package's version" \
  "$(sed -n 's/^set(PACKAGE_VERSION "\(.*\)")$/\1/p' "$libdir"/cmake/taskpool/taskpool-config-version.cmake)" "$version"
expect "SONAME" "$(soname_of "$libdir/libtaskpool.so")" "libtaskpool.so.$soversion"
expect "does the CMake package fit this version" "$(fits_wanted "$major.$minor")" TRUE
expect "does it fit another minor version" "$(fits_wanted "$major.$((minor + 1))")" FALSE
expect "the library file" "$(basename "$(readlink -f "$libdir/libtaskpool.so")")" "libtaskpool.so.$version"
finish
