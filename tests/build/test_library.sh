#!/usr/bin/env bash
# What README.md and tools/demo.sh build: the preset library, without tests and without a C++ compiler.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
cd "$root"
attempt "the preset library is configured" cmake --preset library -B "$scratch/build" -DCMAKE_CXX_COMPILER=/bin/false
attempt "it is built" cmake --build "$scratch/build" --target taskpool payroll
for tests in tests tools; do
  if [ -e "$scratch/build/$tests" ]; then bad "$tests is built too"; else ok; fi
done
finish
