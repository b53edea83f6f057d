#!/usr/bin/env bash
# The build refuses SQL files that would make a statement which cannot be rendered or bound.
# usage: test_embed_sql.sh EMBED_SQL
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
[ $# = 1 ] || die "usage: test_embed_sql.sh EMBED_SQL"
embed=$1
mkdir -p "$scratch/sql/common" "$scratch/sql/x/schema" "$scratch/whole"
# shellcheck disable=SC2016
printf -- '-- Words.\nnow = :now\nplus = {now} + :$_ms\ntail =\nlong = a\n  b\nself = {self}\nlock = FOR UPDATE\n' >"$scratch/sql/common/words"
printf 'now = CLOCK()\ntail = LIMIT :limit\nlock\n' >"$scratch/sql/x/words"
printf 'CREATE TABLE tp_meta (a INT);\n' >"$scratch/sql/x/schema/0001_tables.sql"

# embeds TEXT: the exit code, and what was said first.
embeds() {
  printf '%b' "$1" >"$scratch/sql/x/one.sql"
  if "$embed" "$scratch/sql" x "$scratch/out.c" "$scratch/whole" 2>"$scratch/said"; then
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
# Words: the dialect's own text or the common one, with other words and an argument in it.
expect "words" "$(embeds 'SELECT {now}, {plus lease} {long}\n {tail}')" taken
expect "a statement as it is sent" "$(grep -c '"SELECT CLOCK(), CLOCK() + .001 a b LIMIT .001"' "$scratch/out.c")" 1
expect "a statement as it is read" "$(tr '\n' '|' <"$scratch/whole/one.sql")" "SELECT CLOCK(), CLOCK() + :lease_ms a|  b| LIMIT :limit|"
expect "an unknown word" "$(embeds 'SELECT {never}')" "no such word"
expect "an open word" "$(embeds 'SELECT {now')" "a { is not closed"
expect "a word that wants no argument" "$(embeds 'SELECT {now a}')" "a word is given too much or too little"
expect "a word that stands for itself" "$(embeds 'SELECT {self}')" "words stand for each other"
expect "a statement with a word that the dialect lacks" "$(embeds 'SELECT {lock}') $(grep -c TPI_S_one "$scratch/out.c")" "taken 0"
# What only MariaDB's client reads is in the statement, but for what has a version; what only MySQL's reads is not.
printf '/*!80000 DO 1 */;\n/*M! CREATE INDEX */ /*M!100600 IF NOT EXISTS */ /*M! a ON tp_b (c) */;\nSELECT 1;\n' >"$scratch/sql/x/schema/0001_tables.sql"
expect "a word that is not listed" "$(printf 'other = 1\n' >>"$scratch/sql/x/words" && embeds 'SELECT 1')" "a word that sql/common/words does not list"
sed -i '$d' "$scratch/sql/x/words"
expect "a script" "$(embeds 'SELECT 1')" taken
expect "statements of a script for two servers" "$(sed -n '/const statements_0/,/};/p' "$scratch/out.c" | grep -c '"')" 2
expect "an index for two servers" "$(grep -cF '"CREATE INDEX a ON \002b (c)"' "$scratch/out.c")" 1
finish
