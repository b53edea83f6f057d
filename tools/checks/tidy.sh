#!/usr/bin/env bash
# Runs clang-tidy with .clang-tidy over the library and the program, with the flags of the release build,
# which may be gcc's.
set -euo pipefail
cd -P "$(dirname "${BASH_SOURCE[0]}")/../.."
database=build/release

usage() {
  cat <<END
usage: tools/checks/tidy.sh [--since-proof | --help]
Needs the release build. --since-proof: only what changed since the commit at which docs/proof.md says that all was looked at, a header by way of
one source that includes it; all when that commit is not known here.
END
}

# The commit of the line of the page, if this repository has it.
proven() {
  local commit
  commit=$(awk -F ' *[|] *' '$2 == "tidy" && $7 == "ok" { print $4 }' docs/proof.md)
  [ -n "$commit" ] && git rev-parse --quiet --verify "$commit^{commit}"
}

# changed_since COMMIT: sources that differ from it, and for each header that does one source that includes it.
changed_since() {
  local changed deps
  changed=$({ git diff --name-only "$1" && git ls-files --others --exclude-standard; } | sort -u)
  if grep -qxE '\.clang-tidy|tools/checks/tidy.sh|CMakePresets.json' <<<"$changed"; then
    all
    return
  fi
  # Of each object: its source is the first file that it is made of.
  deps=$(ninja -C $database -t deps)
  changed=$changed root=$PWD/ awk '
    BEGIN { count = split(ENVIRON["changed"], names, "\n"); for (i = 1; i <= count; i++) wanted[ENVIRON["root"] names[i]] = 1 }
    /^[^ ]/ { source = "" }
    /^    / { if (source == "") source = $1
              if (!($1 in wanted) || source !~ ENVIRON["root"] "(src|dialects)/.*\\.c$") next
              if ($1 ~ /\.h$/ && !(source in wanted)) reader[$1] = source
              else { chosen[source] = 1; if ($1 ~ /\.h$/) seen[$1] = 1 } }
    END { for (header in reader) if (!(header in seen)) chosen[reader[header]] = 1
          for (source in chosen) print substr(source, length(ENVIRON["root"]) + 1) }' <<<"$deps" |
    sort -u | tr '\n' '\0'
}

all() {
  find src dialects -name '*.c' -print0
}

since=''
case ${1:-} in
  "") ;;
  --since-proof) since=$(proven) || since='' ;;
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
if [ -n "$since" ]; then changed_since "$since"; else all; fi >"$list"
echo "clang-tidy on $(tr -cd '\0' <"$list" | wc -c) files"
code=0
xargs -0r -n 1 -P "$(nproc)" clang-tidy --quiet -p "$scratch" --extra-arg=-Wno-unknown-warning-option \
  <"$list" >"$log" 2>&1 || code=1
# What remains is the findings; the counts of suppressed ones in system headers say nothing.
grep -vE '^[0-9]+ warnings? (generated|treated)|^Suppressed |^Use -header-filter' "$log" || true
exit $code
