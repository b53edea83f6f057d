#!/usr/bin/env bash
# Runs cppcheck over the library and the program. A single finding that is wrong is suppressed beside the code
# with "cppcheck-suppress", a kind of finding in cppcheck_suppress.txt with its reason.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

usage() {
  cat <<END
usage: tools/checks/cppcheck.sh [--since-proof | --help]
--since-proof: as in tools/checks/sources.sh, and needs the release build.
END
}

case ${1:-} in
  "" | --since-proof) ;;
  --help | -h) usage && exit 0 ;;
  *) usage >&2 && exit 2 ;;
esac
list=$(mktemp)
trap 'rm -f "$list"' EXIT
tools/checks/sources.sh "$@" | tr '\0' '\n' >"$list"
echo "cppcheck on $(wc -l <"$list") files"
[ -s "$list" ] || exit 0
# Without --library=posix it would take popen, flock and their like for unknown.
cppcheck --quiet -j "$(nproc)" --std=c11 --language=c --library=posix \
  --enable=warning,performance,portability,style --inline-suppr \
  --suppressions-list=tools/checks/cppcheck_suppress.txt --error-exitcode=1 \
  --template='{file}:{line}: {severity}: {message} [{id}]' -Iinclude -Isrc --file-list="$list"
