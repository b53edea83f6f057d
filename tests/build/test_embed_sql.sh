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
  printf '%b' "$1" >"$scratch/sql/x/now.sql"
  if "$embed" "$scratch/sql" x "$scratch/out.c" "$scratch/whole" 2>"$scratch/said"; then
    echo taken
  else
    sed -n '1s/^embed_sql: \([^:]*\):.*/\1/p' "$scratch/said"
  fi
}

expect "a good statement" "$(embeds 'SELECT :id {rows a} {if_shards b IN (:shards)} -- it?')" taken
expect "its marks as they are read" "$(cat "$scratch/whole/now.sql")" "SELECT :id /*rows*/ a /*end*/ /*shards*/ b IN (:shards) /*end*/ -- it?"
expect "an open part" "$(embeds 'SELECT {rows a')" "a { is not closed"
expect "an end of no part" "$(embeds 'SELECT a }')" "a } closes nothing"
expect "a part of nothing" "$(embeds 'SELECT {rows}')" "a word is given too much or too little"
expect "shards in rows" "$(embeds 'a {rows b {if_shards c} d}')" taken
expect "rows in shards" "$(embeds 'a {if_shards b {rows c} d}')" "a part to be repeated begins inside an optional one"
expect "shards in shards" "$(embeds 'a {if_shards b {if_shards c} d}')" "an optional part begins inside another"
expect "what is not for shard 0" "$(embeds 'a {if_shards b {but_0 c}} d')" taken
expect "it outside of such a part" "$(embeds 'a {but_0 b}')" "what is not for shard 0 stands in no part about shards"
expect "two repeated parts" "$(embeds '{rows a} {rows b}')" "two parts are to be repeated"
expect "a change that returns rows" "$(embeds 'WITH a AS (SELECT 1) SELECT 2') $(grep -c 'returns = true' "$scratch/out.c")" "taken 1"
expect "a statement about groups" "$(embeds 'SELECT a GROUP BY {grouped} a') $(grep -c 'grouped = true' "$scratch/out.c")" "taken 1"
expect "a part that begins in a comment" "$(embeds '-- {rows a\nb}')" "a part began in a comment"
expect "a part that ends in a comment" "$(embeds 'SELECT {rows a -- b}')" "a part ends in a comment"
expect "a part in quotes" "$(embeds "SELECT '{rows a}'")" "a part begins or ends inside quotes"
expect "an open quote" "$(embeds "SELECT 'a")" "a quote is not closed"
expect "an open comment" "$(embeds 'SELECT a /* b')" "a comment is not closed"
expect "a control character" "$(embeds 'SELECT \002pending')" "a control character"
expect "a place of its own" "$(embeds 'SELECT ?')" "a ? outside quotes would take a parameter's value"
expect "a ? in quotes" "$(embeds "SELECT '?'")" taken
# Words: the dialect's own text or the common one, with other words and an argument in it.
expect "words" "$(embeds 'SELECT {now}, {plus lease} {long}\n {tail}')" taken
expect "a statement as it is sent" "$(grep -c '"SELECT CLOCK(), CLOCK() + .001 a b LIMIT .001"' "$scratch/out.c")" 1
expect "a statement as it is read" "$(tr '\n' '|' <"$scratch/whole/now.sql")" "SELECT CLOCK(), CLOCK() + :lease_ms a|  b| LIMIT :limit|"
expect "an unknown word" "$(embeds 'SELECT {never}')" "no such word"
expect "an open word" "$(embeds 'SELECT {now')" "a { is not closed"
expect "a word that wants no argument" "$(embeds 'SELECT {now a}')" "a word is given too much or too little"
expect "a word that stands for itself" "$(embeds 'SELECT {self}')" "words stand for each other"
expect "a statement with a word that the dialect lacks" "$(embeds 'SELECT {lock}') $(grep -c TPI_S_now "$scratch/out.c")" "taken 0"
# Statements that differ by the pool alone have one file, and words may mean something else for a pool.
printf 'SELECT {at} FROM tp_{pool} -- the {pool} pool\n' >"$scratch/sql/common/list_pool.sql"
printf 'pool_failed = failed\npool_finished = finished\nat = a\nat_failed = 0\n' >>"$scratch/sql/common/words"
printf 'SELECT 3\n' >"$scratch/sql/x/list_pending.sql"
expect "statements of several pools" "$(embeds 'SELECT 1')" taken
expect "a word for one pool" "$(cat "$scratch/whole/list_failed.sql")" "SELECT 0 FROM tp_failed -- the failed pool"
expect "a word for the others" "$(cat "$scratch/whole/list_finished.sql")" "SELECT a FROM tp_finished -- the finished pool"
expect "a statement of its own for one pool" "$(cat "$scratch/whole/list_pending.sql")" "SELECT 3"
expect "a pool in a statement about none" "$(embeds 'SELECT {pool}')" "no such word"
touch "$scratch/sql/x/nwo.sql"
expect "a file of no statement" "$(embeds 'SELECT 1')" "a file of no statement in src/dialect/statements.h"
rm "$scratch/sql/x/nwo.sql"
# What only MariaDB's client reads is in the statement, but for what has a version; what only MySQL's reads is not.
printf '/*!80000 DO 1 */;\n/*M! CREATE INDEX */ /*M!100600 IF NOT EXISTS */ /*M! a ON tp_b (c) */;\nSELECT 1;\n' >"$scratch/sql/x/schema/0001_tables.sql"
expect "a word that is not listed" "$(printf 'other = 1\n' >>"$scratch/sql/x/words" && embeds 'SELECT 1')" "a word that sql/common/words does not list"
sed -i '$d' "$scratch/sql/x/words"
expect "a script" "$(embeds 'SELECT 1')" taken
expect "statements of a script for two servers" "$(sed -n '/const statements_0/,/};/p' "$scratch/out.c" | grep -c '"')" 2
expect "an index for two servers" "$(grep -cF '"CREATE INDEX a ON \002b (c)"' "$scratch/out.c")" 1
finish
