#!/usr/bin/env bash
# What README.md and tools/demo.sh build needs neither cmocka nor a C++ compiler: a plain build, and the preset library. The presets
# with tests fail loudly where cmocka is missing.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
command -v make >/dev/null || export CMAKE_GENERATOR=Ninja

# For CMake no cmocka is installed.
cat >"$scratch/hide.cmake" <<'END'
macro(find_library variable)
  string(REPLACE cmocka cmocka-is-hidden hidden_words "${ARGN}")
  _find_library(${variable} ${hidden_words})
endmacro()
END
# What the compiler makes of it by default, the release build shows.
bare=(-DCMAKE_PROJECT_INCLUDE="$scratch/hide.cmake" -DCMAKE_CXX_COMPILER=/bin/false -DCMAKE_C_FLAGS_RELWITHDEBINFO=-O0)

# without_tests BUILD: no test, and none of the programs built beside the tests
without_tests() {
  local folder
  expect "BUILD_TESTING of ${1##*/}" "$(sed -n 's/^BUILD_TESTING:BOOL=//p' "$1/CMakeCache.txt")" OFF
  for folder in tests tools; do
    if [ -e "$1/$folder" ]; then bad "${1##*/} has $folder"; else ok; fi
  done
}

cd "$root"
attempt "a plain build is configured" cmake -S . -B "$scratch/plain" "${bare[@]}" || true
attempt "it is built" cmake --build "$scratch/plain" -j 2 || true
for built in taskpool taskpool-bench libtaskpool.so libtaskpool.a examples/payroll; do
  if [ -e "$scratch/plain/$built" ]; then ok; else bad "a plain build makes no $built"; fi
done
without_tests "$scratch/plain"
attempt "the preset library is configured" cmake --preset library -B "$scratch/library" "${bare[@]}" || true
without_tests "$scratch/library"

# Without ncurses there is no screen, and the program says so. Only what is the program's own is built again.
attempt "a build without a screen is configured" cmake -S . -B "$scratch/plain" -DTASKPOOL_SCREEN=OFF || true
attempt "it is built" cmake --build "$scratch/plain" -j 2 --target taskpool || true
if ldd "$scratch/plain/taskpool" | grep -q ncurses; then bad "a build without a screen needs ncurses"; else ok; fi
if TASKPOOL_DSN="Driver=none" "$scratch/plain/taskpool" top >"$scratch/log" 2>&1; then
  bad "top has a screen without ncurses"
elif grep -q 'built without ncurses' "$scratch/log"; then
  ok
else
  bad "top does not say that it has no screen: $(cat "$scratch/log")"
fi

# The other presets with tests inherit from it.
if cmake --preset release -B "$scratch/release" "${bare[@]:0:1}" >"$scratch/log" 2>&1; then
  bad "preset release is configured though cmocka is missing"
elif grep -qi 'CMOCKA' "$scratch/log"; then
  ok
else
  cat "$scratch/log" >&2
  bad "preset release does not say that cmocka is missing"
fi
finish
