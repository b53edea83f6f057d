#!/usr/bin/env bash
# An application finds the installed library: a consumer in C and one in C++, built through pkg-config and through
# CMake's find_package, with the shared and with the static library, each run on a SQLite file; that in C calls ODBC itself.
# Licence, pages and examples are installed, and the examples can be built with what is installed. No program names a folder.
# usage: test_install.sh BUILD_DIR
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
[ $# = 1 ] || die "usage: test_install.sh BUILD_DIR"
build_dir=$1
consumer=$root/tests/build/consumer

runpath_of() {
  readelf -d "$1" | sed -nE 's/.*\((RPATH|RUNPATH)\).*\[(.*)\].*/\2/p' | sed 's/:$//'
}

check_files() {
  local name doc=$prefix/share/doc/taskpool
  for name in include/taskpool.h include/taskpool_odbc.h include/taskpool.hpp share/taskpool/cobol/TPAREA.cpy bin/taskpool bin/taskpool-bench bin/taskpool-console; do
    if [ -f "$prefix/$name" ]; then ok; else bad "$name is not installed"; fi
  done
  for name in LICENSE README.md CHANGELOG.md SECURITY.md examples/first.c examples/worker.c examples/legacy.c examples/once.cpp \
    examples/producer.sql examples/payroll/README.md examples/cobol/PAYRUN.cob examples/cobol/PAYWORK.cob; do
    if cmp -s "$root/$name" "$doc/$name"; then ok; else bad "$name is not installed with the documentation"; fi
  done
  for name in "$root"/docs/*.md; do
    if cmp -s "$name" "$doc/docs/${name##*/}"; then ok; else bad "docs/${name##*/} is not installed with the documentation"; fi
  done
  # SQL: scripts as they lie in the source tree, statements and partitioned pools as the build wrote them, whole.
  for name in postgres/schema/0001_pools.sql mysql/admin/grants.sql oracle/partitioned/add_month.sql; do
    if cmp -s "$root/sql/$name" "$prefix/share/taskpool/sql/$name"; then ok; else bad "sql/$name is not installed"; fi
  done
  for name in generic oracle mysql postgres sqlite; do
    if cmp -s "$build_dir/sql/$name/enqueue.sql" "$prefix/share/taskpool/sql/$name/enqueue.sql"; then ok; else bad "sql/$name/enqueue.sql is not installed"; fi
  done
  expect "words left in the installed SQL" "$(grep -lE '[{}]' "$prefix"/share/taskpool/sql/*/*.sql | wc -l)" 0
  expect "files for the build among the installed SQL" "$(find "$prefix/share/taskpool/sql" -type f ! -name '*.sql' | wc -l)" 0
  for name in oracle mysql postgres; do
    expect "partitions in $name's installed script" "$(grep -cE 'PARTITION BY (LIST|RANGE)' "$prefix/share/taskpool/sql/$name/partitioned/0001_pools.sql")" 2
  done
  if [ -x "$doc/examples/payroll/make_employees.sh" ]; then ok; else bad "examples/payroll/make_employees.sh cannot be run"; fi
  for name in "$prefix/bin/taskpool" "$prefix/bin/taskpool-bench" "$prefix/bin/taskpool-console" "$libdir/libtaskpool.so" "$libdir/libtaskpool_cobol.so"; do
    expect "the folder of libraries in ${name##*/}" "$(runpath_of "$name")" ""
  done
  # Where it was built would make each build another.
  # shellcheck disable=SC2016 # a word for the loader
  expect "the folder of libraries in the build's taskpool" "$(runpath_of "$build_dir/taskpool")" '$ORIGIN'
  expect "pkg-config's libdir" "$(readlink -f "$(pkg-config --variable=libdir taskpool)")" "$(readlink -f "$libdir")"
}

# run PROGRAM shared|static
run() {
  local name=${1##*/}
  if [ "$2" = static ]; then
    if needs_taskpool "$1"; then bad "$name loads the shared library"; else ok; fi
  else
    if needs_taskpool "$1"; then ok; else bad "$name does not load the shared library"; fi
  fi
  TASKPOOL_DSN=$(sqlite_dsn "$scratch/$name.db") attempt "$name runs" "$1" || true
}

# by_pkg_config COMPILER SOURCE shared|static
by_pkg_config() {
  local compiler=$1 source=$2 kind=$3 output libs
  output=$scratch/pkgconfig_${source#*.}_$kind
  if [ "$kind" = static ]; then
    libs=$(pkg-config --static --libs taskpool)
    # Both kinds are installed in one folder, where the linker prefers the shared one.
    libs=${libs//-ltaskpool/-l:libtaskpool.a}
  else
    libs=$(pkg-config --libs taskpool)
  fi
  # shellcheck disable=SC2046,SC2086 # flags are words
  if attempt "$compiler with pkg-config, $kind" "$compiler" "${flags[@]}" $(pkg-config --cflags taskpool) \
    -o "$output" "$consumer/$source" $libs; then
    run "$output" "$kind"
  fi
}

# A command that is a program of its own.
find_bench() {
  local known
  known=$("$prefix/bin/taskpool" bench --help) || true
  expect "what the installed bench is" "${known%% on this database*}" "Measures taskpool"
  mv "$prefix/bin/taskpool-bench" "$scratch/bench"
  printf '#!/bin/sh\necho "the one beside it"\n' >"$prefix/bin/taskpool-bench"
  chmod +x "$prefix/bin/taskpool-bench"
  expect "which one is run" "$("$prefix/bin/taskpool" bench)" "the one beside it"
  mv "$scratch/bench" "$prefix/bin/taskpool-bench"
}

# The installed examples, as their readers would build them; the last two call ODBC themselves.
build_examples() {
  local source compiler examples=$prefix/share/doc/taskpool/examples
  for source in first.c once.cpp worker.c legacy.c; do
    compiler=cc
    [ "${source##*.}" = c ] || compiler=c++
    # shellcheck disable=SC2046 # flags are words
    attempt "$source with pkg-config" "$compiler" "${flags[@]}" -o "$scratch/example_${source%.*}" "$examples/$source" \
      $(pkg-config --cflags --libs taskpool) || true
  done
}

# Python finds the installed library by its name, or by TASKPOOL_LIBRARY.
in_python() {
  local library said
  library=$(find "$prefix" -name 'libtaskpool.so.*.*.*')
  said=$(printf '01 1000.50\n02 2000\n' | TASKPOOL_DSN="Driver=SQLite3;Database=$scratch/python.db" TASKPOOL_LIBRARY=$library bash -c '
    payroll=$1/share/doc/taskpool/examples/python/payroll.py
    export PYTHONDONTWRITEBYTECODE=1
    "$payroll" install && "$payroll" run 2026-11 && "$payroll" work --drain && "$payroll" paid' - "$prefix" 2>&1) || true
  expect "what Python paid" "$(tail -n 1 <<<"$said")" "2 2 3000.5"
}

by_cmake() {
  local build=$scratch/cmake target
  attempt "cmake configures the consumer" cmake -G Ninja -S "$consumer" -B "$build" -DCMAKE_PREFIX_PATH="$prefix" \
    -DCMAKE_C_FLAGS="${flags[*]}" -DCMAKE_CXX_FLAGS="${flags[*]}" || return 0
  attempt "cmake builds the consumer" cmake --build "$build" || return 0
  for target in c_shared cpp_shared; do
    run "$build/$target" shared
  done
  for target in c_static cpp_static; do
    run "$build/$target" static
  done
}

install_build "$build_dir"
check_files
find_bench
for kind in shared static; do
  by_pkg_config cc consumer.c "$kind"
  by_pkg_config c++ consumer.cpp "$kind"
done
build_examples
in_python
by_cmake
finish
