#!/usr/bin/env bash
# Runs clang-tidy with .clang-tidy over the library and the program, with the flags of the release build,
# which may be gcc's.
set -euo pipefail
cd -P "$(dirname "${BASH_SOURCE[0]}")/../.."
database=build/release

usage() {
  cat <<END
usage: tools/checks/tidy.sh [--since-proof | --help]
Needs the release build. --since-proof: as in tools/checks/sources.sh.
END
}

case ${1:-} in
  "" | --since-proof) ;;
  --help | -h) usage && exit 0 ;;
  *) usage >&2 && exit 2 ;;
esac
if [ ! -f "$database/compile_commands.json" ]; then
  echo "there is no $database/compile_commands.json: run cmake --preset release first" >&2
  exit 1
fi
scratch=$(mktemp -d)
log=$scratch/log
list=$scratch/list
trap 'rm -rf "$scratch"' EXIT
# Of a file that is compiled several times the first: clang-tidy finds in the second what is not there.
python3 - "$database" "$scratch" <<'END'
import json
import sys

with open(sys.argv[1] + "/compile_commands.json", encoding="utf-8") as file:
    commands = json.load(file)
with open(sys.argv[2] + "/compile_commands.json", "w", encoding="utf-8") as file:
    json.dump(list({command["file"]: command for command in reversed(commands)}.values()), file)
END
tools/checks/sources.sh "$@" >"$list"
echo "clang-tidy on $(tr -cd '\0' <"$list" | wc -c) files"
code=0
xargs -0r -n 1 -P "$(nproc)" clang-tidy --quiet -p "$scratch" --extra-arg=-Wno-unknown-warning-option \
  <"$list" >"$log" 2>&1 || code=1
# What remains is the findings; the counts of suppressed ones in system headers say nothing.
grep -vE '^[0-9]+ warnings? (generated|treated)|^Suppressed |^Use -header-filter' "$log" || true
exit $code
