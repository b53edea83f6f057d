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
  readelf -hW "$1" | grep -q 'DYN (' || fail "$name can only be loaded at one address (no PIE)"
  readelf -lW "$1" | grep -q GNU_RELRO || fail "$name has no RELRO"
  readelf -dW "$1" | grep -qE 'BIND_NOW|FLAGS_1.*NOW' || fail "$name binds late"
  readelf -lW "$1" | grep GNU_STACK | grep -q 'RW ' || fail "$name has an executable stack"
  nm -D "$1" | grep -q __stack_chk_fail || fail "$name has no stack protector"
  nm -D "$1" | grep -q '_chk@' || fail "$name is not fortified"
  readelf -dW "$1" | grep -qE 'RPATH|RUNPATH' && fail "$name names a folder of libraries"
  readelf -S "$1" | grep -q '\.debug_info' && fail "$name is not stripped"
  grep -qF "$TP_ROOT" "$1" && fail "$name names the folder of the build"
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
for file in "$scratch"/usr/bin/taskpool "$scratch"/usr/bin/taskpool-bench "$(find "$scratch" -name 'libtaskpool.so.*.*.*')"; do
  hardened "$file"
done
soname=$(readelf -dW "$(find "$scratch" -name 'libtaskpool.so.*.*.*')" | sed -n 's/.*SONAME.*\[libtaskpool\.so\.\(.*\)\]/\1/p')
lib=libtaskpool$soname
case $kind in
  deb)
    needs "$lib" libodbc2 libuuid1 libglib2.0-0 libc6
    needs taskpool "$lib " libpopt0 libjson-c5 libunistring
    needs libtaskpool-dev "$lib " unixodbc-dev
    if command -v lintian >/dev/null; then
      lintian --fail-on error,warning,info --display-info --tag-display-limit 0 "$folder"/*.deb 2>&1 | grep -v 'root privileges' || true
      lintian --fail-on error,warning,info --display-info "$folder"/*.deb >/dev/null 2>&1 || fail "lintian has something to say"
    else
      complain "SKIPPED: lintian is not here"
      [ -z "${TASKPOOL_TEST_REQUIRE:-}" ] || bad=1
    fi
    ;;
  rpm)
    needs "$lib" 'libodbc\.so\.2' 'libuuid\.so\.1' 'libglib-2\.0'
    needs taskpool "$lib = " 'libpopt\.so' 'libjson-c\.so' 'libunistring\.so'
    needs taskpool-devel "$lib = " unixODBC-devel
    ;;
esac
[ $bad = 0 ] && say "$kind: hardened, and nothing to complain of"
