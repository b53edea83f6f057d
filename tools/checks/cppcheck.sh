#!/usr/bin/env bash
# Runs cppcheck over the library and the program. A single finding that is wrong is suppressed beside the code
# with "cppcheck-suppress", a kind of finding in cppcheck_suppress.txt with its reason.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

folders=()
for folder in src dialects; do
  [ -d "$folder" ] && folders+=("$folder")
done
# Without --library=posix it would take popen, flock and their like for unknown.
cppcheck --quiet -j "$(nproc)" --std=c11 --language=c --library=posix \
  --enable=warning,performance,portability,style --inline-suppr \
  --suppressions-list=tools/checks/cppcheck_suppress.txt --error-exitcode=1 \
  --template='{file}:{line}: {severity}: {message} [{id}]' -Iinclude -Isrc "${folders[@]}"
