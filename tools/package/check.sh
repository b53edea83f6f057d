#!/usr/bin/env bash
# Looks over packages that tools/package.sh has built: hardening of what is compiled, Debian's rules by lintian, what needs what.
# usage: check.sh deb|rpm FOLDER
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=../lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
kind=$1 folder=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
bad=0

fail() {
  complain "$1"
  bad=1
}

unpack() {
  local file
  for file in "$folder"/*."$kind"; do
    case $kind in
      deb) dpkg-deb -x "$file" "$scratch" ;;
      rpm) (cd "$scratch" && rpm2cpio "$file" | cpio -idm --quiet) ;;
    esac
  done
}

# Read back from the files, whatever the flags said.
hardened() {
  local name=${1##*/}
  readelf -hldSW "$1" >"$scratch/elf"
  grep -q 'DYN (' "$scratch/elf" || fail "$name can only be loaded at one address (no PIE)"
  grep -q GNU_RELRO "$scratch/elf" || fail "$name has no RELRO"
  grep -qE 'BIND_NOW|FLAGS_1.*NOW' "$scratch/elf" || fail "$name binds late"
  grep -q 'GNU_STACK.* RW ' "$scratch/elf" || fail "$name has an executable stack"
  nm -D "$1" >"$scratch/names"
  grep -q __stack_chk_fail "$scratch/names" || fail "$name has no stack protector"
  grep -q '_chk@' "$scratch/names" || fail "$name is not fortified"
  grep -qE 'RPATH|RUNPATH' "$scratch/elf" && fail "$name names a folder of libraries"
  grep -q '\.debug_info' "$scratch/elf" && fail "$name is not stripped"
  grep -qE "$TP_ROOT/(src|include|build)|taskpool-package\." "$1" && fail "$name names the folder of the build"
  return 0
}

needs() {
  local package=$1 wanted
  shift
  for wanted in "$@"; do
    case $kind in
      deb) dpkg-deb -f "$folder/$package"_*.deb Depends | grep -qE "(^|, )$wanted" || fail "$package does not need $wanted" ;;
      rpm) rpm -qp --requires "$folder/$package"-[0-9]*.rpm 2>/dev/null | grep -qE "^$wanted" || fail "$package does not need $wanted" ;;
    esac
  done
}

unpack
mapfile -t compiled < <(find "$scratch" -path '*/usr/bin/*' -o -name 'libtaskpool*.so.*.*.*' -type f)
[ ${#compiled[@]} = 5 ] || fail "there are ${#compiled[@]} programs and libraries in the place of 5"
for file in "${compiled[@]}"; do
  hardened "$file"
done
grep -qE 'TASKPOOL_0\.[0-9]+' <(nm -D "$(find "$scratch" -name 'libtaskpool.so.*.*.*')") || fail "the library's symbols have no version"
soname=$(readelf -dW "$(find "$scratch" -name 'libtaskpool.so.*.*.*')" | sed -n 's/.*SONAME.*\[libtaskpool\.so\.\(.*\)\]/\1/p')
lib=libtaskpool$soname
case $kind in
  deb)
    needs "$lib" libodbc2 libuuid1 libglib2.0-0 libc6
    needs taskpool "$lib " libpopt0 libjson-c5 libunistring libncursesw6 libical3
    needs "libtaskpool-cobol$soname" "$lib " libodbc2
    needs taskpool-console "$lib " libmicrohttpd12 libgnutls30 libcrypt1 libjson-c5
    needs libtaskpool-dev "$lib " "libtaskpool-cobol$soname " unixodbc-dev
    if command -v lintian >/dev/null; then
      lintian --fail-on error,warning,info --display-info --tag-display-limit 0 "$folder"/*.deb >"$scratch/lintian" 2>&1 ||
        { cat "$scratch/lintian" >&2 && fail "lintian has something to say"; }
    else
      complain "SKIPPED: lintian is not here"
      [ -z "${TASKPOOL_TEST_REQUIRE:-}" ] || bad=1
    fi
    ;;
  rpm)
    needs "$lib" 'libodbc\.so\.2' 'libuuid\.so\.1' 'libglib-2\.0'
    needs taskpool "$lib = " 'libpopt\.so' 'libjson-c\.so' 'libunistring\.so' 'libncursesw\.so' 'libical\.so'
    needs "libtaskpool-cobol$soname" "$lib = " 'libodbc\.so\.2'
    needs taskpool-console "$lib = " 'libmicrohttpd\.so' 'libgnutls\.so' 'libcrypt\.so'
    if command -v rpmlint >/dev/null; then
      rpmlint --config "$TP_ROOT/tools/package/rpm/rpmlint.toml" "$folder"/*.rpm >"$scratch/rpmlint" 2>&1 || true
      grep -q 'packages and .* checked' "$scratch/rpmlint" || fail "rpmlint has looked at nothing"
      if grep -E ': [EW]: ' "$scratch/rpmlint"; then fail "rpmlint has something to say"; fi
    else
      complain "SKIPPED: rpmlint is not here"
      [ -z "${TASKPOOL_TEST_REQUIRE:-}" ] || bad=1
    fi
    needs taskpool-devel "$lib = " "libtaskpool-cobol$soname = " unixODBC-devel
    ;;
esac
[ $bad = 0 ] && say "$kind: hardened, and nothing to complain of"
