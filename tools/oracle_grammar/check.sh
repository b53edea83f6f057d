#!/bin/sh
# Parses every statement that the library would send to Oracle with an Oracle (PL/SQL) grammar and our own
# rules beside it. See README.md here.
#
#   tools/oracle_grammar/check.sh            the scripts of sql/oracle, and all that the build writes for Oracle
#   tools/oracle_grammar/check.sh --since-proof    of these what is another text than at the commit of tools/checks/sources.sh
#   tools/oracle_grammar/check.sh FILE...    only these files (--script before a file: it is a script)
#
# Exit code: 0 all accepted; 1 something refused, or the self-test failed; 2 could not check anything.
set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
root=$(CDPATH='' cd -- "$here/../.." && pwd)
scratch=${TP_SCRATCH:-$root/.scratch}/oracle_grammar

give_up() {
  echo "oracle_grammar: $*" >&2
  exit 2
}

install_modules() {
  cp "$here/package.json" "$here/package-lock.json" "$scratch/"
  if ! (cd "$scratch" && npm ci --ignore-scripts --no-audit --no-fund >npm.log 2>&1); then
    cat "$scratch/npm.log" >&2
    give_up "npm ci failed in $scratch"
  fi
  cp "$here/package-lock.json" "$scratch/installed.lock" # last: only now is it true
}

since=''
if [ "${1:-}" = --since-proof ]; then
  shift
  since=$("$root/tools/checks/sources.sh" --commit) || since=''
  [ -z "$since" ] || git -C "$root" diff --quiet "$since" -- tools/oracle_grammar tools/embed_sql.c tools/embed_text.c tools/embed_words.c || since=''
fi

# write_statements SQL FOLDER: what the build would write for Oracle.
write_statements() {
  rm -rf "$2"
  mkdir -p "$2/partitioned"
  "$scratch/embed_sql" "$1" oracle "$scratch/sql_oracle.c" "$2" &&
    sed -f "$1/oracle/partitioned/0001_pools.sed" "$1/oracle/schema/0001_pools.sql" >"$2/partitioned/0001_pools.sql"
}

# write_before FOLDER: the files as they were.
write_before() {
  rm -rf "$1"
  mkdir -p "$1"
  git -C "$root" archive "$since" sql docs/origins.md | tar -x -C "$1" && write_statements "$1/sql" "$1/statements"
}

command -v node >/dev/null 2>&1 || give_up "node is missing (16 or later; Debian: apt-get install nodejs npm)"
command -v npm >/dev/null 2>&1 || give_up "npm is missing (Debian: apt-get install npm)"
major=$(node -p 'process.versions.node.split(".")[0]')
[ "$major" -ge 16 ] || give_up "node $major is too old, 16 or later is needed"

mkdir -p "$scratch"
if command -v flock >/dev/null 2>&1; then
  exec 9>"$scratch/lock" # two checks at once must not install over each other
  flock 9
fi
if ! cmp -s "$here/package-lock.json" "$scratch/installed.lock" || [ ! -d "$scratch/node_modules" ]; then
  install_modules
fi
exec 9>&- # lets the next check in

"${CC:-cc}" -D_POSIX_C_SOURCE=200809L -I "$root/src" -o "$scratch/embed_sql" "$root/tools/embed_sql.c" \
  "$root/tools/embed_text.c" "$root/tools/embed_words.c" ||
  give_up "cannot build tools/embed_sql.c"
write_statements "$root/sql" "$scratch/sql/oracle" || give_up "cannot write the statements"
if [ -n "$since" ] && write_before "$scratch/before"; then
  set -- --before "$scratch/before"
fi

NODE_PATH=$scratch/node_modules
export NODE_PATH
node "$here/selftest.js"
exec node "$here/check.js" --root "$root" --statements "$scratch/sql/oracle" "$@"
