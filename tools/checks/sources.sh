#!/usr/bin/env bash
# Prints the sources that clang-tidy and cppcheck are to look at, each ended by NUL.
set -euo pipefail
cd -P "$(dirname "${BASH_SOURCE[0]}")/../.."
database=build/release

usage() {
  cat <<END
usage: tools/checks/sources.sh [--since-proof | --commit | --help]
All of the library and the programs. --since-proof: only what changed since the commit at which docs/proof.md says that all was looked at, a
header by way of one source that includes it, as the release build says; all when that commit is not known here. --commit: only prints
that commit.
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
  if grep -qxE '\.clang-tidy|tools/checks/(sources|tidy|cppcheck).*|CMakePresets.json' <<<"$changed"; then
    all
    return
  fi
  # Of each object: its source is the first file that it is made of. With a base_dir ccache has them relative to the build.
  deps=$(ninja -C $database -t deps | sed "s#^    \\.\\./\\.\\./#    $PWD/#")
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
  --commit) proven && exit 0 || exit 1 ;;
  --help | -h) usage && exit 0 ;;
  *) usage >&2 && exit 2 ;;
esac
if [ -n "$since" ]; then changed_since "$since"; else all; fi
