#!/usr/bin/env bash
# The build refuses SQL files that would make a statement which cannot be rendered or bound.
# usage: test_embed_sql.sh EMBED_SQL
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
[ $# = 1 ] || die "usage: test_embed_sql.sh EMBED_SQL"
embed=$1
mkdir -p "$scratch/sql/common" "$scratch/sql/x/schema"
printf 'CREATE TABLE tp_meta (a INT);\n' >"$scratch/sql/x/schema/0001_tables.sql"

# embeds TEXT: the exit code, and what was said first.
embeds() {
  printf '%b' "$1" >"$scratch/sql/x/one.sql"
  if "$embed" "$scratch/sql" x "$scratch/out.c" 2>"$scratch/said"; then
    echo taken
  else
    sed -n '1s/^embed_sql: \([^:]*\):.*/\1/p' "$scratch/said"
  fi
}

expect "a good statement" "$(embeds 'SELECT :id /*rows*/ a /*end*/ /*shards*/ b IN (:shards) /*end*/ -- it?')" taken
expect "an open part" "$(embeds 'SELECT /*rows*/ a')" "a part is not closed by /*end*/"
expect "an end of no part" "$(embeds 'SELECT a /*end*/')" "no part is open"
expect "shards in rows" "$(embeds 'a /*rows*/ b /*shards*/ c /*end*/ d /*end*/')" taken
expect "rows in shards" "$(embeds 'a /*shards*/ b /*rows*/ c /*end*/ d /*end*/')" "a part to be repeated begins inside an optional one"
expect "shards in shards" "$(embeds 'a /*shards*/ b /*shards*/ c /*end*/ d /*end*/')" "a part begins inside another"
expect "what is not for shard 0" "$(embeds 'a /*shards*/ b /*but 0*/ c /*end*/ d')" taken
expect "it outside of such a part" "$(embeds 'a /*but 0*/ b')" "what is not for shard 0 stands in a part about shards"
expect "two repeated parts" "$(embeds '/*rows*/ a /*end*/ /*rows*/ b /*end*/')" "two parts are to be repeated"
expect "an open quote" "$(embeds "SELECT 'a")" "a quote is not closed"
expect "an open comment" "$(embeds 'SELECT a /* b')" "a comment is not closed"
expect "a control character" "$(embeds 'SELECT \002pending')" "a control character"
expect "a place of its own" "$(embeds 'SELECT ?')" "a ? outside quotes would take a parameter's value"
expect "a ? in quotes" "$(embeds "SELECT '?'")" taken
# What only MariaDB's client reads is in the statement, but for what has a version; what only MySQL's reads is not.
printf '/*!80000 DO 1 */;\n/*M! CREATE INDEX */ /*M!100600 IF NOT EXISTS */ /*M! a ON tp_b (c) */;\nSELECT 1;\n' >"$scratch/sql/x/schema/0001_tables.sql"
expect "a script" "$(embeds 'SELECT 1')" taken
expect "statements of a script for two servers" "$(sed -n '/const statements_0/,/};/p' "$scratch/out.c" | grep -c '"')" 2
expect "an index for two servers" "$(grep -cF '"CREATE INDEX a ON \002b (c)"' "$scratch/out.c")" 1
finish
