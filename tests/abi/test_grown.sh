#!/usr/bin/env bash
# The program of the kept header with a library of tomorrow, in which every struct of TPI_SIZED_LIST has grown: what it writes behind the
# end of an older one, AddressSanitizer sees.
# usage: test_grown.sh, under on_database.sh
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

cd "$root"
cp -r CMakeLists.txt CMakePresets.json LICENSE README.md dialects docs examples include sql src tests tools "$scratch"
cd "$scratch"
grown=0
while read -r name; do
  sed -i "s/^} tp_$name;/    int64_t grown[3];\n&/" include/taskpool.h
  grown=$((grown + 1))
done < <(sed -n 's/^ *X(\([a-z_]*\), "TP_.*/\1/p' src/core/sized.h)
sed -i 's/^\( *X([a-z_]*, "TP_[^)]*, \)[a-z_]*)/\1grown)/' src/core/sized.h
if [ "$grown" -lt 10 ] || [ "$(grep -c 'int64_t grown\[3\]' include/taskpool.h)" != "$grown" ]; then
  echo "FAILED: $grown structs are listed, others grew" >&2
  exit 1
fi
cmake --preset debug -B build -DCMAKE_C_FLAGS=-Wno-missing-field-initializers >log 2>&1 || { cat log >&2 && exit 1; }
cmake --build build -j 2 --target test_abi >log 2>&1 || { grep -E 'error|warning' log >&2 && exit 1; }
# Drivers keep memory to the end.
ASAN_OPTIONS=detect_leaks=0 build/tests/test_abi
