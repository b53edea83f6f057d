#!/usr/bin/env bash
# Compiles the library for another C library, musl, by its headers alone, and links it: what it calls is in musl, or in docs/portability.md as
# what comes from ODBC, libuuid or GLib. It is not run: Debian has none of these for musl.
# usage: tools/musl.sh   (needs musl-tools, and the release build's generated sources)
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
command -v musl-gcc >/dev/null || { complain "SKIPPED: musl-gcc is not here (tools/install_packages.sh musl)" && exit 77; }
make_programs taskpool_shared
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$TP_ROOT"

# None of glibc's headers may be found: only those of the three libraries are.
mkdir -p "$scratch/include"
cp /usr/include/sql*.h "$scratch/include"
cp /usr/include/"$(gcc -print-multiarch)"/unixodbc.h "$scratch/include" 2>/dev/null || true
cp -r /usr/include/uuid "$scratch/include"
read -ra glib < <(pkg-config --cflags glib-2.0)
flags=(-std=c11 -O2 -fPIC -fvisibility=hidden -D_POSIX_C_SOURCE=200809L -Wall -Wextra -Wconversion -Wshadow -Wpedantic -Werror
  -Isrc -Iinclude -isystem "$scratch/include" "${glib[@]/#-I/-isystem}")

sources=(src/base/*.c src/core/*.c src/odbc/*.c src/dialect/*.c src/store/*.c src/ops/*.c src/worker/*.c dialects/*.c dialects/drivers/*.c
  "$build_dir"/sql_*.c)

# compile_all NAME FLAG...: into the folder NAME, and links it.
compile_all() {
  local name=$1
  shift
  mkdir "$scratch/$name"
  # shellcheck disable=SC2016 # for the other shell to fill in
  printf '%s\n' "${sources[@]}" |
    xargs -P "$(nproc)" -I{} sh -c 'folder=$1 source=$2 && shift 2 && musl-gcc "$@" -c "$source" -o "$folder/$(echo "$source" | tr / _).o"' \
      sh "$scratch/$name" {} "${flags[@]}" "$@"
  musl-gcc -shared -o "$scratch/$name.so" "$scratch/$name"/*.o
}

# What neither musl has nor the page, in the rows of the three libraries, names.
unknown() {
  local musl
  musl=$(musl-gcc -print-file-name=libc.a)
  # shellcheck disable=SC2016 # words of the page
  comm -23 <(nm -D --undefined-only "$1" | awk '{ print $NF }' | sort -u) \
    <({ nm --defined-only "$musl" 2>/dev/null | awk 'NF == 3 { print $3 }' && grep -E '^\| (ODBC|libuuid|GLib)' docs/portability.md | grep -oE '`\w+`' | tr -d '`' &&
      printf '%s\n' _ITM_deregisterTMCloneTable _ITM_registerTMCloneTable __cxa_finalize __tls_get_addr; } | sort -u)
}

for how in "" -DTP_PLAIN_POSIX; do
  name=musl$how
  compile_all "$name" ${how:+"$how"}
  nm -D --undefined-only "$scratch/$name.so" | grep -qw SQLFetch || die "nm reads nothing of the library"
  left=$(unknown "$scratch/$name.so")
  [ -z "$left" ] || die "$name: in no library that is known: $(paste -sd ' ' <<<"$left")"
  say "$name: ${#sources[@]} files compiled and linked, $(nm -D --undefined-only "$scratch/$name.so" | wc -l) functions called, all known"
done
