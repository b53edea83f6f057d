#!/bin/bash
# The command line program as a user meets it: test_cli.sh PATH_TO_TASKPOOL PATH_TO_LATE_SIGNAL, on any database. It leaves
# its schema there.
# shellcheck source-path=SCRIPTDIR source=pool.sh
. "$(dirname "${BASH_SOURCE[0]}")/pool.sh"
late_signal=$(cd "$OLDPWD" && realpath "$2")

# field NAME: that member of the JSON on standard input, one line each
field() {
    python3 -c 'import json, sys
for line in sys.stdin:
    value = json.loads(line)
    for name in sys.argv[1].split("."):
        value = value[int(name)] if name.isdigit() else value[name]
    print(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))' "$1"
}

program() {
    cat >"$1"
    chmod +x "$1"
}

# ---- Help and usage --------------------------------------------------------------------------------

run --version
expect "version" 0 '^taskpool [0-9]+\.[0-9]+\.[0-9]+$'
run --help
expect "help lists commands" 0 '^  enqueue '
expect "help lists exit codes" 0 '^   74  '
for command in schema enqueue work stats list show adopt doctor; do
    run $command --help
    expect "$command --help shows examples" 0 '^  taskpool '"$command"
    run help $command
    expect "help $command" 0 '^Usage: taskpool '"$command"
done
run
expect "no command" 2 '' 'a command is missing; see taskpool --help'
run frobnicate
expect "unknown command" 2 '' 'frobnicate is no command'
run --json stats
expect "options before the command" 2 '' 'the command comes first'
run stats --frob
expect "unknown option" 2 '' '--frob: unknown option; see taskpool stats --help'
run stats too many
expect "too many arguments" 2 '' 'too many arguments: 2 given, 0 taken at most; see'
run show
expect "missing argument" 2 '' 'give an ID, or --dedup-key'
run list --limit many
expect "a limit that is no number" 2 '' '--limit must be a whole number from 1'
run schema destroy
expect "unknown schema action" 2 '' 'install, check or print'

run work --handler bill=/bin/true --handler bill=/bin/false
expect "a handler named twice" 2 '' '--handler names bill twice'

# ---- Connection strings ----------------------------------------------------------------------------

TASKPOOL_DSN='' run stats
expect "no database given" 2 '' 'no database given; set TASKPOOL_DSN'
TASKPOOL_DSN="$BASE_DSN;Prefx=x_" run stats
expect "a mistyped key of ours" 2 '' "unknown key 'Prefx'"
run stats --dsn 'Driver={SQLite3;Database=x.db'
expect "unterminated brace" 2 '' '.'
run stats --dsn 'Driver=SQLite3;Database=x.db;Dialect=dbase'
expect "unknown dialect" 2 '' '[Dd]ialect'
run stats --dsn "Driver=SQLite3;Database=x.db;Prefix=a'b"
expect "prefix with a quote" 2 '' '[Pp]refix'
run stats --dsn "Driver=SQLite3;Database=x.db;Plan=guess"
expect "unknown plan" 2 '' '[Pp]lan'
run stats --dsn 'Driver=NoSuchDriver;Server=127.0.0.1;PWD=sekret1;UID=u'
expect "unknown driver" 6 '' '.'
expect_that "its password is not echoed" is "$(cat out err | grep -c sekret1)" 0
run stats --dsn 'Driver=PostgreSQL Unicode;Server=127.0.0.1;Port=1;Database=x;UID=u;PWD={sek}}ret2}'
expect "unreachable server (6: its driver is not installed)" '4|6' '' '.'
expect_that "its password is not echoed either" is "$(cat out err | grep -c 'ret2')" 0
run stats '--dsm=Driver=x;PWD=sekret3'
expect "mistyped --dsn" 2 '' '--dsm: unknown option'
run list --limit '--dsn=Driver=x;PWD=sekret3'
expect "an option whose value was forgotten" 2 '' 'not "--dsn"'
run stats 'Driver=x;PWD=sekret3'
expect "a connection string without its option" 2 '' 'arguments'
run 'Driver=x;PWD=sekret3'
expect "a connection string as command" 2 '' 'is no command'
expect_that "none of these echoes a password" is "$(cat out err | grep -c sekret3)" 0

run stats --dsn-file 'Driver=x;PWD=sekret4'
expect "a connection string as --dsn-file" 2 '' '--dsn-file takes the name of a file, not a connection string'
expect_that "is not echoed" is "$(cat out err | grep -c -e sekret4 -e Driver)" 0
run stats --dsn-file='PWD=sekret4'
expect_that "nor behind an equals sign" is "$code $(cat out err | grep -c sekret4)" '2 0'
run stats --dsn-file nowhere
expect "missing --dsn-file" 74 '' 'cannot read nowhere: No such file'
: >empty
chmod 600 empty
run stats --dsn-file empty
expect "empty --dsn-file" 2 '' 'empty is empty'
printf 'a\nb\n' >two
chmod 600 two
run stats --dsn-file two
expect "two lines in --dsn-file" 2 '' 'must hold one line'
run stats --dsn x --dsn-file two
expect "--dsn and --dsn-file" 2 '' 'exclude each other'

# ---- Doctor, before there are tables ---------------------------------------------------------------

case $DSN in
*SQLite*) run doctor --dsn 'Driver=SQLite3;Database=/nowhere/at/all.db' ;;
*) run doctor --dsn "$(printf '%s' "$DSN" | sed 's/Port=[0-9]*/Port=1/')" ;;
esac
expect "doctor: a database that cannot be reached" 4 '' 'cannot connect'
expect_that "doctor: no empty table then" is "$(lines_of out)" 0
run doctor
expect "doctor: nothing wrong here" 0 '^second-update +ok +waits for the first'
expect_that "doctor: says nothing else" is "$(lines_of err)" 0
run doctor --quiet
expect "doctor --quiet: nothing wrong" 0
expect_that "doctor --quiet: says nothing" is "$(cat out err | wc -c | tr -d ' ')" 0
run doctor --json
expect "doctor --json" 0
expect_that "doctor --json: no bad finding" is "$(field bad <out)" 0
expect_that "doctor --json: begins with the driver" is "$(field findings.0.name <out)" driver
case $BASE_DSN in
*SQLite*) refused='NoTXN=1' ;;
*PostgreSQL*) refused='Protocol=7.4-2' ;;
*) refused='AUTO_RECONNECT=1' ;;
esac
run doctor --dsn "${DSN%;};$refused"
expect "doctor: a key that is refused" 9 '^connection +BAD .* take it out' '1 of the checks failed'
run doctor --json --dsn "${DSN%;};$refused"
expect "doctor --json: a key that is refused" 9
expect_that "doctor --json: what to do" is "$(field findings.0.remedy <out)" 'take it out'

# ---- Schema ----------------------------------------------------------------------------------------

run schema check
expect "schema missing: check" 5 '' '.'
run stats
expect "schema missing: stats" 5 '' '.'
run enqueue h x
expect "schema missing: enqueue" 5 '' '.'
printf 'handler\nh\n' >one.csv
run enqueue --file one.csv
expect "schema missing: enqueue --file" 5 '' '.'
run work --handler h=/bin/true --drain
expect "schema missing: work" 5 '' '.'
run list
expect "schema missing: list" 5 '' '.'
run show 0190c3a2-0000-7000-8000-000000000000
expect "schema missing: show" 5 '' '.'
if [ -n "${TASKPOOL_TEST_PREPARE:-}" ]; then "$TASKPOOL_TEST_PREPARE" "$PREFIX"; fi
run schema install
expect "schema install" 0 '^schema version [0-9]+ installed$'
run schema install
expect "schema install again" 0 '^schema version [0-9]+ is there$'
run schema check
expect "schema check" 0 'is there'
run schema check --json
expect "schema check --json" 0 '^\{"version":[0-9]+,"was_there":true\}$'
for dialect in oracle mysql postgres sqlite generic; do
    TASKPOOL_DSN='' run schema print --dialect $dialect --prefix pay_
    expect "schema print --dialect $dialect" 0 'pay_pending'
done
run schema print
expect "schema print of the database at hand" 0 "${PREFIX}pending"
run schema print --json
expect "schema print --json" 2 '' 'print gives SQL'
run schema print --dialect dbase
expect "schema print of an unknown dialect" 2 '' '[Dd]ialect'
printf '%s\n' "$TASKPOOL_DSN" >dsn
chmod 600 dsn
TASKPOOL_DSN='' run schema check --dsn-file dsn
expect "--dsn-file" 0
expect_that "says nothing of a file of ours alone" is "$(lines_of err)" 0
chmod 644 dsn
TASKPOOL_DSN='' run schema check --dsn-file dsn
expect "--dsn-file that everybody can read" 74 '' 'everybody on this machine can read dsn, so it is not used; chmod 600 it'
chmod 602 dsn
TASKPOOL_DSN='' run schema check --dsn-file dsn
expect "--dsn-file that everybody can write" 74 '' 'everybody on this machine can write dsn'
chmod 640 dsn
TASKPOOL_DSN='' run schema check --dsn-file dsn
expect "--dsn-file that a group can read" 0
TASKPOOL_DSN='' run schema check --dsn="$DSN"
expect "--dsn=" 0

# ---- One task --------------------------------------------------------------------------------------

uuid='[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}'
run enqueue one '{"n":"张三 😀"}' --biz-key 订单-7 --shard -3 --priority 5 --max-failures 2 --delay 1h
expect "enqueue prints the id" 0 "^$uuid$"
id=$(cat out)
run show "$id" --json
expect "show --json" 0 '"handler":"one"'
expect_that "params come back" is "$(field params <out)" '{"n":"张三 😀"}'
expect_that "biz_key comes back" is "$(field biz_key <out)" 订单-7
expect_that "shard, priority, max_failures come back" is \
    "$(field shard <out) $(field priority <out) $(field max_failures <out)" "-3 5 2"
run show "$id"
expect "show for people" 0 '^state +pending$'
expect "show tells times in UTC" 0 '^due_at +20[0-9-]+T[0-9:.]+Z$'
run list --handler one
expect "list" 0 "^$id +pending +one +订单-7 "
run stats
expect "stats" 0 '^pending +one +pending +1 +0 +20'
run stats --json
expect_that "stats --json" is "$(field stats.0.handler <out)" one
fixed=0190c3a2-7b1e-7f3a-9c55-${RANDOM:0:1}f$(od -An -N5 -tx1 /dev/urandom | tr -d ' ')
run enqueue one x --id "${fixed^^}" --json
expect "enqueue --id --json" 0 "^\{\"id\":\"$fixed\",\"inserted\":true\}$"
run enqueue one x --id "$fixed"
expect "the same id again" 0 '' 'already there'
run enqueue one x --id "$fixed" --json
expect "the same id again --json" 0 '"inserted":false'
run enqueue one x --dedup-key only
expect "dedup key" 0 "$uuid"
run enqueue one x --dedup-key only --json
expect "dedup key again" 0 '"inserted":false'
run enqueue one y --dedup-key only --on-duplicate push-back --delay 5m
expect "what waits is pushed back, and its id printed" 0 "$uuid"
run enqueue one y --dedup-key only --on-duplicate replace --json
expect "what waits is replaced" 0 '"inserted":false,"changed":true'
run show "$(field id <out)" --json
expect_that "it has the new params" is "$(field params <out)" y
run enqueue one y --dedup-key only --on-duplicate both
expect "another word" 2 '' 'keep, replace or push-back'
run enqueue one y --on-duplicate replace
expect "no key" 2 '' 'goes with --dedup-key'
run enqueue one x --due-at 2099-12-31T23:59:59.5Z --json
run show "$(field id <out)" --json
expect_that "--due-at" is "$(field due_at <out)" 4102444799500
printf 'from\ta pipe\n' >pipe
feed pipe enqueue one -
run show "$(cat out)"
expect "params from standard input, shown escaped" 0 '^params +from\\ta pipe\\n$'
run enqueue one
expect "no params" 0 "$uuid"
run enqueue one -- -5
expect "params that begin with -" 0 "$uuid"

for bad in '--delay soon' '--delay 5' '--delay -5s' '--shard x' '--shard 99999999999' '--priority 40000' \
    '--due-at tomorrow' '--due-at 2025-02-30T00:00:00Z' '--due-at 2025-01-01T00:00:00+02:00' '--id 7' \
    '--delay 36526d' '--delay 3155760000001ms' '--delay 99999999999999999999d' '--retry-for 36526d' \
    '--due-at 253402300800000' '--due-at 10000-01-01T00:00Z' '--max-failures -1' '--delay 1s --due-at 2030-01-01T00:00Z' '--format csv' '--retry-for x'; do
    # shellcheck disable=SC2086
    run enqueue one x $bad
    expect "enqueue $bad" 2 '' '; see taskpool enqueue --help'
done
run enqueue far x --delay 36525d --retry-for 36525d
expect "the longest delay" 0 "^$uuid$"
run enqueue far x --due-at 9999-12-31T23:59:59.999Z
run show "$(cat out)" --json
expect_that "the last time" is "$(field due_at <out)" 253402300799999
run enqueue 'no spaces'
expect "a handler name with a space" 2 '' 'handler may have letters, digits'
run enqueue
expect "enqueue nothing" 2 '' 'a HANDLER is missing'
before=$(count pending one)
head -c 1048577 /dev/zero | tr '\0' x >long
feed long enqueue one -
expect "params too long" 3 '' 'params are longer than 1048576 bytes'
head -c 1048576 /dev/zero | tr '\0' x >limit
printf 'a\0b' >nul
feed nul enqueue one -
expect "params with a NUL byte" 3 '' 'NUL byte'
printf 'a\xffb' >latin
feed latin enqueue one -
expect "params in another encoding" 3 '' 'not valid UTF-8'
run enqueue one "$(printf 'a\xffb')"
expect "an argument in another encoding" 3 '' 'not valid UTF-8'
expect_that "nothing of that was written" is "$(count pending one)" "$before"
feed limit enqueue big -
expect "params of just 1 MiB" 0 "$uuid"
run show "$(cat out)" --json
expect_that "all of it comes back" is "$(field params <out | wc -c)" 1048577
run show 0190c3a2-0000-7000-8000-000000000000
expect "show an unknown id" 1 '' 'no task has the id'
run list --handler nobody
expect "list nothing" 1 '' 'no such task in the pending pool; --pool names another: finished, failed or all'

# ---- CSV -------------------------------------------------------------------------------------------

{
    printf '\xef\xbb\xbfhandler,biz_key,name,amount\r\n'
    printf 'csv,E1,王小明,1.10\r\n'
    printf 'csv,E2,"𠮷野, ""Joe"" 😀",2\r\n'
    printf '\r\ncsv,E3,"two\nlines",3\r\n'
} >people.csv
run enqueue --file people.csv
expect "csv with Chinese, four-byte characters, CRLF, a mark" 0 '^enqueued 3, already there 0$'
"$TASKPOOL" list --json --handler csv >tasks
sort_of() { field "$1" <tasks | sort | tr '\n' '|'; }
expect_that "its keys" is "$(sort_of biz_key)" 'E1|E2|E3|'
expect_that "other columns are JSON in params, in order" grep -qF \
    '"params":"{\"name\":\"𠮷野, \\\"Joe\\\" 😀\",\"amount\":\"2\"}"' tasks
expect_that "a line break stays" grep -qF 'two\\nlines' tasks

printf 'id,params\n%s,"{""a"":1}"\n' "${fixed/0190c3a2/0190c3a3}" >ids.csv
run enqueue --file ids.csv --handler csv2 --json
expect "csv with ids --json" 0 '^\{"rows":1,"inserted":1,"already_there":0,"skipped":0\}$'
run enqueue --file ids.csv --handler csv2
expect "the same file again" 0 '^enqueued 0, already there 1$'
feed people.csv enqueue --file - --quiet
expect "csv from a pipe, quiet" 0
expect_that "quiet says nothing" is "$(cat out err | wc -c)" 0
printf 'handler,order_key,gate\ngated,7,\ngated,,=7\n' >gated.csv
run enqueue --file gated.csv
expect "a file may name an order key, as its gate too" 0
run list --handler gated --csv
expect_that "both are behind it" is "$(grep -c ',=7,' <out)" 2
run list --handler gated
expect "one of them waits" 0 'gate =7'
run group open loads
printf 'handler,group,after,gate\nloads,loads,,\nloads,,loads,\nloads,,,>loads\nloads,,,\n' >loads.csv
run enqueue --file loads.csv
expect "a file may name groups" 0 '^enqueued 4'
run list --group loads --csv
expect_that "one is in the group" is "$(grep -c ',loads,' <out)" 1
run list --gate '>loads' --csv
expect_that "two wait for it, one as lists write it" is "$(grep -c ',>loads,' <out)" 2
printf 'handler,group\nloads,\nloads,\n' >both.csv
feed both.csv enqueue --file - --group loads
expect "rows that name none are of the group that is named" 0
run group open payroll
run group open pay-a --parent payroll
run group open pay-b --parent payroll
run group open pay-c --parent payroll
run group cancel pay-c
expect "a group without others within it is cancelled without a word of them" 0
if [ -s err ]; then not_ok "no warning" "$(cat err)"; fi
run group cancel payroll
expect "group cancel names those within it that go on" 0 '0 tasks skipped' 'groups within it go on: pay-a, pay-b; cancel them too'
run group open books
run group open books-a --parent books
run group close books
for name in pay-a pay-b books-a; do run group cancel $name; done
run group end
run group end
run group show payroll --json
expect "it ends after them" 0 '"state":"ended, cancelled"'
run group show books --json
expect "a cancelled group has ended to its parent" 0 '"state":"ended","rule":"done"'
run group show loads --json
expect "so it has three" 0 '"tasks":3,'
printf 'handler,group\nloads,unknown\n' >unknown.csv
run enqueue --file unknown.csv
expect "an unknown group is refused" 2
run top --once --json
expect "top counts those that wait for it" 0 '"after_groups":2,'
run skip --handler loads
run top --once --json
expect "none of them waits any more" 0 '"after_groups":0,'
run top --once --json
expect "top counts those that wait at gates" 0 '"at_gates":1,'
run gate set bank --tokens 100 --period 1m
expect "gate set --tokens" 0
run gate show bank --json
expect "gate show: its tokens" 0 '"width":100,.*"tokens":100,"tokens_left":100,"period_ms":60000'
run gate set bank --width 3
run gate show bank --json
expect "gate set keeps what is not given" 0 '"width":3,.*"tokens":100,.*"period_ms":60000'
run gate set bank --tokens 0
run gate show bank --json
expect "gate set --tokens 0 takes them away" 0 '"width":3,.*"tokens":0,'
run gate set bank --tokens 100
expect "tokens without a period" 2
printf 'handler,deadline_at,deadline_ms\nuntil,2030-01-01T00:00:00Z,\nuntil,,60000\n' >until.csv
run enqueue --file until.csv
expect "a file may name deadlines" 0
id=$("$TASKPOOL" enqueue edited x --quiet --deadline 2100-01-01T00:00:00Z)
run show "$id"
expect "show has the deadline" 0 'deadline +2100-01-01'
run edit "$id" --deadline 2100-01-02T00:00:00Z
run show "$id" --json
expect "edit moves it" 0 '"deadline_at":4102531200000'
run list --id "$id"
expect "a list has it behind the due time" 0 'Z, deadline 2100-01-02T00:00'
run list --id "$id" --csv
expect "and in a column" 0 ',2100-01-02T00:00:00.000Z'
run edit "$id" --deadline 2100-01-02T00:00:00Z --no-deadline
expect "one or none" 2 '' 'exclude each other'
run edit "$id" --deadline 2001-01-02T00:00:00Z
expect "it is due before" 2 '' 'never be begun'
run edit "$id" --no-deadline
run show "$id" --json
expect "edit takes it away" 0 '"deadline_at":null'
run enqueue until x --deadline 2001-01-01T00:00:00Z
expect "a deadline" 0
run enqueue until x --deadline 1h
expect "so long after it is due" 0
run work --handler until=/bin/true --drain --quiet
expect "what is not past its deadline is done" 0
run list --pool finished --handler until --json
expect_that "three are done" is "$(grep -c '"state":"done"' <out)" 3
expect_that "one was past it" is "$(grep -c 'its deadline, 2001-01-01 00:00:00 UTC, had passed' <out)" 1
run enqueue until x --deadline soon
expect "no deadline" 2 '' 'must be a time .* or a duration'
run enqueue until x --deadline 0
expect "none at all" 2 '' 'must be a time'
run enqueue until x --deadline 1d --file until.csv
expect "a deadline is of one task" 2
run enqueue --file gated.csv --group g
expect "files put nothing into a group" 2
run gate set 'bank-*' --width 2
expect "gate set of a pattern" 0
run enqueue one x --gate bank-1
expect "a pattern makes a gate" 0
run gate show bank-1 --json
expect "gate show: its pattern" 0 '"pattern":"bank-\*"'
run gate show 'bank-*'
expect "gate show of a pattern counts what is behind its gates" 0 '^bank-\* +2 +1 +0 '

printf 'handler,biz_key\n' >header.csv
run enqueue --file header.csv
expect "csv with a header only" 0 '^enqueued 0, '

# bad_csv NAME MESSAGE [FORMAT]: reads ./bad, which must be refused with nothing written.
bad_csv() {
    run enqueue --file bad --format "${3:-csv}" --handler bad
    expect "$1" 3 '' "$2"
    expect_that "$1: nothing is written" is "$(count pending bad)" 0
}
printf 'biz_key,params\n1,a\n2,b\n3\n4,d\n' >bad
bad_csv "unequal columns" 'bad line 4: 1 column where the header has 2; nothing was enqueued, correct the line'
printf 'biz_key,params\n1,"a\nb"\n2,b,c\n' >bad
bad_csv "the line behind a record of two lines" 'bad line 4: 3 columns'
printf 'biz_key,params\n1,a\n2,\xff\n' >bad
bad_csv "broken UTF-8" 'bad line 3: broken UTF-8 in column 2'
printf 'biz_key,params\n1,a\n2,\0\n' >bad
bad_csv "a NUL byte" 'bad line 3: a NUL byte'
printf 'biz_key,params\n1,"a\n' >bad
bad_csv "a quote that is not closed" 'bad line 2: a quote is not closed'
printf 'biz_key,params\n1,a"b\n' >bad
bad_csv "a stray quote" 'bad line 2: a quote inside an unquoted field'
printf 'params,name\n1,a\n' >bad
bad_csv "params and other columns" 'bad line 1: the header has a params column and also "name"'
printf 'a,a\n1,a\n' >bad
bad_csv "a column twice" 'bad line 1: the header has two columns "a"'
for name in ' id' 'dedup_key ' Dedup_Key ' DUE_AT' '"\tgate"' '\xc2\xa0id' 'id\xc2\xa0'; do
    # shellcheck disable=SC2059
    printf "amount,$name\n1,\n" >bad
    bad_csv "a column that is nearly a field: $name" 'bad line 1: the header has ".*(id|dedup_key|DUE_AT|Dedup_Key|gate).*"; write (id|dedup_key|due_at|gate), or another name for a parameter'
done
printf 'a,\n1,a\n' >bad
bad_csv "a column without name" 'bad line 1: column 2 of the header has no name'
printf 'biz_key;amount\n1;2\n' >bad
bad_csv "columns between semicolons" 'bad line 1: the header is one column with ";" in it; separate the columns by commas'
printf 'biz_key\tamount\n1\t2\n' >bad
bad_csv "columns between tabs" 'bad line 1: the header is one column with a tab in it; separate the columns by commas'
: >bad
bad_csv "an empty file" 'bad is empty; its first line must name the columns'
printf 'shard\n1\nx\n' >bad
bad_csv "a shard that is no number" 'bad line 3: shard must be a whole number'
printf 'handler\nok\nno good\n' >bad
bad_csv "a handler with a space" 'bad line 3: handler may have letters'
printf 'due_at,delay_ms\n2030-01-01T00:00Z,5\n' >bad
bad_csv "due_at and delay_ms" 'bad line 2: due_at and delay_ms exclude each other'
printf 'delay_ms\n3155760000000\n3155760000001\n' >bad
bad_csv "a delay of more than 100 years" 'bad line 3: delay_ms must be a whole number from 0 to 3155760000000'
printf 'due_at\n253402300800000\n' >bad
bad_csv "a time beyond the year 9999" 'bad line 2: due_at must be'
for time in 1893456000 20291231 99999999999; do
    printf 'due_at\n%s\n' "$time" >bad
    bad_csv "a time in seconds, or a day: $time" 'bad line 2: due_at must be milliseconds \(not seconds\)'
done
run enqueue bad x --due-at 1893456000
expect "seconds" 2 '' 'due_at must be milliseconds \(not seconds\)'
{
    printf 'params\nx\n'
    cat long
    echo
} >bad
bad_csv "params of more than 1 MiB" 'bad line 3: params is 1048577 bytes long; at most 1048576'
{
    printf 'params\nx\n"'
    cat long long
} >bad
bad_csv "a record without end" 'bad line 3: longer than [0-9]+ bytes'
printf 'biz_key,amount\n1,1250.00\n2,12' >bad
bad_csv "a file that was cut off in a number" 'bad line 3: the last line has no line end, so it may have been cut off \(if it is whole, add one\); nothing was enqueued'
printf 'biz_key\n1\n' >nohandler.csv
run enqueue --file nohandler.csv
expect "no handler" 3 '' 'nohandler.csv line 2: handler is missing'

seq -f 'r%g' 1 25 | sed '1i biz_key' >many.csv
sed '24s/.*/r23,x/' many.csv >bad
run enqueue --file bad --format csv --handler batches --batch 10 --json
expect "an error in the third batch" 3 '"rows":20,"inserted":20' \
    'bad line 24: 2 columns where the header has 1; nothing of its batch .* 20 rows before .* --skip 20$'
expect_that "the first two batches stay" is "$(count pending batches)" 20
run enqueue --file many.csv --handler batches --batch 10 --skip 20
expect "--skip goes on" 0 '^enqueued 5, already there 0$'
expect_that "each row is there once" is \
    "$("$TASKPOOL" list --json --handler batches | field biz_key | sort -u | wc -l)" 25
run enqueue --file many.csv --handler batches --skip 26
expect "--skip beyond the file" 3 '' 'has only 25 rows, --skip says 26'
# Whatever happens among the rows that are passed over, the number to go on with is no smaller than before.
run enqueue --file bad --format csv --handler batches --skip 24 --json
expect "an error among the rows passed over" 3 '"rows":24,"inserted":0,"already_there":0,"skipped":24' \
    'bad line 24: .*; nothing was enqueued, correct the line and run it again, with --skip 24 as before$'
run enqueue --file nowhere.csv --skip 20 --json
expect "a file that is not there, with --skip" 74 '"rows":20,' 'cannot open nowhere.csv: .*; .* 20 rows are dealt with: go on with --skip 20$'
mkfifo endless
"$TASKPOOL" enqueue --file endless --handler batches --skip 1000000 --json >out 2>err &
endless=$!
{ # more than a pipe holds: when it is written the program reads, and knows what to do at the signal
    echo biz_key
    seq 100000
} >endless.csv
exec 3>endless
cat endless.csv >&3
kill -TERM $endless
wait $endless
code=$?
exec 3>&-
expect "stopped among the rows passed over" 130 '"rows":1000000,"inserted":0' \
    'interrupted; nothing was enqueued; the first 1000000 rows are dealt with: go on with --skip 1000000$'
exec 3<>endless # nothing comes, and it does not end
timeout 900 env LD_PRELOAD="$late_signal" ASAN_OPTIONS="${ASAN_OPTIONS:-}:verify_asan_link_order=0" \
    "$TASKPOOL" enqueue --file endless --handler batches >out 2>err
code=$?
exec 3>&-
expect "stopped just before it waits for input" 130 '' 'interrupted; nothing was enqueued$'
run enqueue --file nowhere.csv
expect "a file that is not there" 74 '' 'cannot open nowhere.csv'
run enqueue --file .
expect "a folder as file" 74 '' 'cannot read \.: [^;]*$'
run enqueue --file many.csv --format xml
expect "unknown format" 2 '' '--format must be csv or jsonl'
run enqueue --file many.csv --shard 1
expect "task options with --file" 2 '' 'make them columns of the file'
run enqueue h --file many.csv
expect "HANDLER and --file" 2 '' 'not both'
run enqueue --file many.csv --batch 0
expect "--batch 0" 2 '' '--batch must be'

# ---- JSON lines ------------------------------------------------------------------------------------

cat >tasks.jsonl <<'END'
{"handler":"jsonl","biz_key":"a","params":{"amount":1.10,"big":18446744073709551615,"name":"𠮷 \u4e2d"}}

{"handler":"jsonl","biz_key":"b","params":"kept { as it is","priority":-1,"due_at":"2030-01-01T00:00:00Z"}
{"biz_key":7}
END
run enqueue --file tasks.jsonl --handler jsonl
expect "json lines" 0 '^enqueued 3, already there 0$'
"$TASKPOOL" list --json --handler jsonl >tasks
expect_that "numbers stay as written" grep -qF \
    '"params":"{\"amount\":1.10,\"big\":18446744073709551615,\"name\":\"𠮷 中\"}"' tasks
expect_that "a params string stays" grep -qF '"params":"kept { as it is"' tasks
expect_that "a numeric key is text" is "$(sort_of biz_key)" '7|a|b|'
feed tasks.jsonl enqueue --file - --format jsonl --handler jsonl --json
expect "json lines from a pipe" 0 '"inserted":3'
printf '{"handler":"bad"}\n{"handler":"bad","bizkey":1}\n' >bad
bad_csv "jsonl: unknown field" 'bad line 2: "bizkey" is no field of a task' jsonl
printf '{"handler":"bad"}\n{"handler":"bad","params":[99999999999999999999]}\n' >bad
bad_csv "jsonl: an integer beyond 64 bits" 'bad line 2: an integer beyond 64 bits' jsonl
printf '{"handler":"bad"}\n{"handler":"bad","params":[-0]}\n' >bad
bad_csv "jsonl: an integer that would become another" 'bad line 2: -0, which would become 0' jsonl
printf '{"handler":"bad"}\n{"handler":\n' >bad
bad_csv "jsonl: half an object" 'bad line 2: not JSON: the line ends in the middle' jsonl
printf '{"handler":"bad","params":"\xff"}\n' >bad
bad_csv "jsonl: broken UTF-8" 'bad line 1: broken UTF-8' jsonl
printf '{"handler":"bad","params":"%s"}\n' "$(cat long)" >bad
bad_csv "jsonl: params of more than 1 MiB" 'bad line 1: params is 1048577 bytes long' jsonl
printf '{"handler":"bad","handler":"worse"}\n' >bad
bad_csv "jsonl: a member twice" 'bad line 1: an object names one member twice' jsonl

# ---- Listing ---------------------------------------------------------------------------------------

run list --handler batches --limit 7 --json
expect_that "list --limit" is "$(lines_of out)" 7
last=$(tail -1 out | field id)
run list --handler batches --after "$last" --json
expect_that "list --after" is "$(lines_of out)" 18
run list --handler batches --biz-key r3 --json
expect_that "list --biz-key" is "$(field biz_key <out)" r3
run list --pool nowhere
expect "list of an unknown pool" 2 '' '.'
seq -f 'K%.0f' 1 2100 | sed '1i biz_key' >pages.csv
run enqueue --file pages.csv --handler pages --batch 2100
run list --handler pages --limit 3
expect "list says that there are more, and how to go on" 0 '.' "there are more; --after $(tail -1 out | cut -d' ' -f1) goes on, a larger --limit shows more"
run list --handler pages --limit 3 --since 1h
expect "by time too" 0 '.' 'there are more; --since 20.*Z goes on'
for form in --json --csv --quiet; do
    run list --handler pages --limit 3 $form
    expect_that "but not with $form" is "$(cat err)" ''
done
run list --handler pages --limit 2100
expect_that "nor when all are shown" is "$(cat err)" ''
run list --handler pages --limit 3000
expect_that "list of three pages: one line of titles, a line for each task" is "$(grep -c '^ID ' out) $(lines_of out)" '1 2101'
expect_that "its columns stand below each other" is "$(sed 's/ BIZ_KEY .*//; s/ K[0-9]* .*//' out | awk '{ print length }' | sort -u | lines_of /dev/stdin)" 1
run list --handler pages --limit 3000 --json
expect_that "as JSON" is "$(lines_of out)" 2100
"$TASKPOOL" list --handler batches 2>err | head -1 >out
expect_that "a reader that goes away is no error" is "$(cat err)" ''
"$TASKPOOL" list --handler batches >/dev/full 2>err
code=$?
expect "output that cannot be written" 74 '' 'cannot write the output: No space left'
"$TASKPOOL" schema print --dialect oracle >/dev/full 2>err
code=$?
expect "a script that cannot be written" 74 '' 'cannot write the output'
timeout 900 "$TASKPOOL" list --handler batches >&- 2>err
code=$?
expect "a closed output" 74 '' 'cannot write the output'
timeout 900 "$TASKPOOL" enqueue one - >out 2>err <&-
code=$?
expect "a closed input" 74 '' 'cannot read standard input'
timeout 900 "$TASKPOOL" enqueue --file - >out 2>err <&-
code=$?
expect "a closed input as file" 74 '' 'cannot read standard input'

# ---- Working ---------------------------------------------------------------------------------------

# fresh HANDLER [PARAMS] [OPTIONS...]: one task, its id in $id
fresh() {
    id=$("$TASKPOOL" enqueue "$@" 2>err)
}
# of task $id
state() { "$TASKPOOL" show --json "$id" | field state; }
reason() { "$TASKPOOL" show --json "$id" | field reason; }
drain() {
    run work "$@" --drain --poll 100ms
}

program w.sh <<'END'
#!/bin/sh
cat >"$OUT_DIR/seen"
END
# The environment is clean: a program knows where to write by its own text.
program done.sh <<END
#!/bin/sh
cat >"$DIR/stdin"
env | sort >"$DIR/env"
ls /proc/self/fd | wc -l >"$DIR/fds"
echo "said \$TASKPOOL_ID"
END
fresh "done" '{"名":"😀"}' --biz-key B7 --shard 2 --priority 3
TASKPOOL_TEST_LEAK=1 drain --handler done=./done.sh
expect "work: done" 0 "^said $id\$"
expect "work: summary" 0 '^done 1, skipped 0, retry 0, gave-up 0'
expect_that "params come on standard input" is "$(cat stdin)" '{"名":"😀"}'
expect_that "the task is in the environment" is \
    "$(grep -cE "^TASKPOOL_(ID=$id|HANDLER=done|BIZ_KEY=B7|SHARD=2|PRIORITY=3|FAILURES=0|TOKEN=$uuid)\$" env)" 7
expect_that "the environment is clean" is "$(grep -cE 'TASKPOOL_DSN|TASKPOOL_TEST_LEAK|Driver' env)" 0
# 0, 1, 2, two to report to, and the one that ls opens
expect_that "no other files are open" is "$(cat fds)" 6
expect_that "state done" is "$(state)" "done"
run show "$id"
expect "it is in the finished pool" 0 '^pool +finished$'
run stats --finished
expect "stats --finished" 0 '^finished +done +done +1 '

program fail.sh <<'END'
#!/bin/sh
echo first >&2
printf 'no account 账户\033[31m\n\n' >&2
exit 3
END
fresh fail x
drain --handler fail=./fail.sh --retry none
expect "work --drain: gave up" 8 'gave-up 1' ''
expect_that "programs' errors are passed on" grep -q '^first$' err
expect_that "state failed" is "$(state)" failed
expect_that "the last line is the reason" is "$(reason)" 'no account 账户 [31m'
run list --pool failed --handler fail
expect "people say failed-1" 0 "^$id +failed-1 +fail "
program silent.sh <<'END'
#!/bin/sh
exit 9
END
fresh silent x
drain --handler silent=./silent.sh --retry none
expect_that "without a last line the exit code is the reason" is "$(reason)" 'exit code 9'
fresh silent x --max-failures 2
drain --handler silent=./silent.sh --retry 100ms,100ms,100ms
expect "retries, then gives up" 8 'retry 1, gave-up 1'

program skip.sh <<'END'
#!/bin/sh
echo "nothing to do" >&2
exit 100
END
fresh skip x
drain --handler skip=./skip.sh
expect "work: skip" 0 'skipped 1'
expect_that "state skipped" is "$(state) $(reason)" 'skipped nothing to do'

# A program says how far it is and gives something back, whatever bytes that are; who waits gets it.
program back.sh <<END
#!/bin/sh
params=\$(cat)
case \$params in
hostile) yes | head -c 3000000 >&"\$TASKPOOL_RESULT_FD"
    head -c 100000 /dev/urandom >&"\$TASKPOOL_PROGRESS_FD" ;;
bytes) printf '\377\000a\n\n' >&"\$TASKPOOL_RESULT_FD" ;;
skip) echo no >&2; exit 100 ;;
fail) echo thrown away >&"\$TASKPOOL_RESULT_FD"; exit 1 ;;
wait) echo "42 rows 1 to 100" >&"\$TASKPOOL_PROGRESS_FD"
    while [ ! -e "$DIR/go" ]; do sleep 0.1; done ;;
*) echo "{\"of\": \"\$params\"}" >&"\$TASKPOOL_RESULT_FD" ;;
esac
END
"$TASKPOOL" work --handler back=./back.sh --retry none --poll 100ms >/dev/null 2>worker.err &
worker=$!
run enqueue back 7 --wait
expect "enqueue --wait prints the result" 0 '^{"of": "7"}$' 'waiting for task'
run enqueue back 7 --wait=10m --json
expect "and as JSON" 0 '"inserted":true,"state":"done","result":"{.*"of'
run enqueue back bytes --wait
expect_that "what is no text becomes question marks" is "$code $(cat out)" '0 ??a'
run enqueue back hostile --wait
expect_that "what is too long is cut" is "$code $(wc -c <out)" '0 1048576'
expect_that "with a word" grep -q 'longer than 1048576 bytes' worker.err
run enqueue back skip --wait
expect "skipped" 15 '' 'was skipped: no'
run enqueue back fail --wait
expect "failed" 14 '' 'is in the failed pool: exit code 1'
expect_that "its result is thrown away" is "$(cat out)" ''
run enqueue back wait --wait=1s
expect "not in that time" 16 '' 'has not ended yet'
id=$(sed -n 's/.*waiting for task //p' err)
case $DSN in
*Plan=hold*) ;;
*)
    for _ in $(seq 3000); do
        run show "$id"
        grep -q '^progress ' out && break
        sleep 0.1
    done
    expect "show has the progress" 0 '^progress +42 % rows 1 to 100 \('
    run show --json "$id"
    expect_that "and as JSON" is "$(field progress.percent <out) $(field progress.message <out)" '42 rows 1 to 100'
    ;;
esac
touch go
run enqueue back 7 --wait --id "$id"
expect "the same id with other content" 2 '' 'other params'
kill "$worker"
wait "$worker"
run enqueue --file nowhere.csv --wait
expect "--wait is about one task" 2 '' 'do not go with --file'
run enqueue back 7 --wait=soon
expect "--wait takes a duration" 2 '' '--wait must be a duration'

program later.sh <<END
#!/bin/sh
echo x >>"$DIR/tries"
[ \$(wc -l <"$DIR/tries") -ge 3 ] || exit 75
END
fresh later x
drain --handler later=./later.sh --later 100ms
expect "work: later, later, done" 0 'done 1, skipped 0, retry 0, gave-up 0'
expect_that "later counts no failure" is "$("$TASKPOOL" show --json "$id" | field failures) $(lines_of tries)" '0 3'

program killed.sh <<'END'
#!/bin/sh
kill -9 $$
END
fresh killed x
drain --handler killed=./killed.sh --retry none
expect_that "killed by a signal" is "$(reason)" 'killed by signal 9'

program slow.sh <<'END'
#!/bin/sh
trap '' TERM
sleep 3600 &
wait
sleep 3600
END
fresh slow x
drain --handler slow=./slow.sh --retry none --timeout 300ms
expect_that "a program that takes too long is ended" is "$(reason)" 'timed out after 300ms'

program polite.sh <<'END'
#!/bin/sh
trap 'exit 0' TERM
: >trapped
sleep 3600 &
wait
END
for timeout in 300ms 3s 30s; do # a busy machine may not get so far in time
    fresh polite x
    drain --handler polite=./polite.sh --retry none --timeout "$timeout"
    [ ! -e trapped ] || break
done
expect "a program that answers the timeout with exit code 0" 0 '^done 1'
fresh zero x
run work --handler zero=true --timeout 0 --lease 0 --poll 0 --later 0 --drain
expect "0 as a duration" 0 '^done 1'
fresh far-off x
drain --handler far-off=true --timeout 36525d --lease 36525d --later 36525d --retry 36525d
expect "the longest durations" 0 '^done 1'

program deaf.sh <<'END'
#!/bin/sh
exec <&-
head -c 300000 /dev/zero | tr '\0' e | fold -w 100 >&2
head -c 300000 /dev/zero | tr '\0' o | fold -w 100
END
id=$("$TASKPOOL" enqueue deaf - <limit)
drain --handler deaf=./deaf.sh
expect "a program that does not read 1 MiB but writes a lot" 0 '^done 1'
expect_that "all it wrote is passed on" is "$(grep -c '^o*$' out) $(grep -c '^e*$' err)" '3000 3000'
program echo.sh <<END
#!/bin/sh
exec tee /dev/stderr
END
{ head -c 1000000 limit | fold -w 99; echo; } >folded
id=$("$TASKPOOL" enqueue echo - <folded)
drain --handler echo=./echo.sh --quiet
expect_that "1 MiB in and out on both sides" is "$(cmp out folded && cmp err folded && echo same)" same

program daemon.sh <<END
#!/bin/sh
sleep 3600 &
echo \$! >"$DIR/left"
echo started
END
fresh daemon x
drain --handler daemon=./daemon.sh
expect "a program that leaves something running" 0 '^started$'
expect_that "is not waited for" kill "$(cat left)"

for i in 1 2 3; do fresh json "$i"; done
drain --handler json=./done.sh --json
expect "work --json" 0 '^\{"event":"summary","done":3,'
expect_that "every line is JSON" is "$(field event <out | sort | uniq -c | grep -cE ' 3 done|1 summary')" 2
expect_that "what programs print goes elsewhere" is "$(grep -c ^said err)" 3
for i in $(seq 30); do echo "$i"; done | sed '1i params' >thirty.csv
run enqueue --file thirty.csv --handler thirty
program line.sh <<'END'
#!/bin/sh
read n
echo "line $n of a program"
END
drain --handler thirty=./line.sh --threads 8
expect "30 tasks, 8 at a time" 0 '^done 30,'
expect_that "each ran once" is "$(grep -c '^line [0-9]* of a program$' out) $(sort -u out | grep -c ^line)" '30 30'

run enqueue --file thirty.csv --handler pipe
# The first writes; the others do when nobody reads any more.
program tick.sh <<'END'
#!/bin/sh
[ ! -e ticked ] || while [ ! -e unread ]; do sleep 0.05; done
: >ticked
echo tick
END
{
    timeout 900 "$TASKPOOL" work --handler pipe=./tick.sh --threads 1 --poll 100ms 2>err
    echo $? >code
} | {
    head -1 >out
    exec <&-
    : >unread
}
code=$(cat code)
expect "work ends when the reader of its output is gone" 74 '^tick$' 'cannot be written any more'

run work --handler x=./nowhere.sh
expect "a handler program that is not there" 7 '' 'nowhere.sh cannot be run: No such file'
echo >plain.sh
run work --handler x=./plain.sh
expect "a handler program that is not executable" 7 '' 'plain.sh cannot be run: Permission denied'
run work --handler x=./
expect "a folder as handler program" 7 '' 'cannot be run: Is a directory'
run work --handler x=no-such-program-anywhere
expect "a handler program that is not in PATH" 7 '' 'nowhere in PATH'
echo 'exit 0' >noshebang.sh
chmod +x noshebang.sh
fresh noshebang x
run work --handler noshebang=./noshebang.sh
expect "a script without its first line" 7 '' 'a script begins with a line like #!/bin/sh'
expect_that "its task waits unharmed" is "$("$TASKPOOL" show --json "$id" | field state,failures 2>/dev/null || state)" pending
printf '#!/bin/sh\r\nexit 0\r\n' >windows.sh
chmod +x windows.sh
fresh windows x
run work --handler windows=./windows.sh
expect "a script with line ends of Windows" 7 '' 'windows.sh cannot be run: No such file .*no CR at its end'
fresh path x
drain --handler path=true
expect "a program from PATH" 0 '^done 1'
run work
expect "work without handlers" 2 '' '--handler NAME=PROGRAM is missing'
run work --handler x
expect "a handler without program" 2 '' 'must be NAME=PROGRAM'
run work --handler x=/bin/true --handler y=/bin/true --threads 2 --threads-max 5 --lease 90s --retry 10s,1m --name night --drain
expect_that "work says with what it started" grep -qE ' started  night, process [0-9]+ on .+; pool [a-z]+, .+ \(.+, prefix .+\); plan [a-z]+; handlers x y; threads 2 to 5; lease 90s; retry 10s,1m$' err
run work --handler x=/bin/true --drain --quiet
expect_that "and nothing with --quiet" is "$(cat err)" ''
# Shards, order, threads, groups, alerts.
for shard in 1 2 3; do "$TASKPOOL" enqueue sharded x --shard $shard >/dev/null; done
"$TASKPOOL" work --handler sharded=true --shard 1 --shard 3 --poll 100ms >out 2>err &
worker=$!
await_stat() { # until the pool $1 holds $3 tasks of handler $2
    for _ in $(seq 3000); do
        [ "$("$TASKPOOL" list --pool "$1" --handler "$2" --json 2>/dev/null | lines_of /dev/stdin)" = "$3" ] && return 0
        sleep 0.1
    done
    return 1
}
expect_that "work --shard takes its shards" await_stat finished sharded 2
kill -TERM $worker
wait $worker
run list --handler sharded --json
expect "work --shard leaves the others" 0 '"shard":2,'
drain --handler sharded=true --threads 1 --threads-max 3 --keep-alive 1s --queue 2 --batch 2 --when-full put-back \
    --pace rate --idle 200ms --start-after 10ms --in-order --settle-count 1 --settle-time 1ms --stop-after 10s \
    --schedules --on-crash fail --name 'night shift'
expect "work with all its options" 0 '^done 1'
program tell.sh <<END
#!/bin/sh
echo "\$TASKPOOL_HANDLER: \$TASKPOOL_REASON, \$(cat)" >>"$DIR/alerts"
END
program refuse.sh <<'END'
#!/bin/sh
echo 'no such account' >&2
exit 1
END
fresh alarmed 'payment 7'
drain --handler alarmed=./refuse.sh --retry none --alert ./tell.sh
expect "work --alert: gave up" 8 'gave-up 1'
expect_that "the alert program was run once, with the task" is "$(cat alerts)" 'alarmed: no such account, payment 7'
program page.sh <<END
#!/bin/sh
{ echo "\$TASKPOOL_ALERT_COUNT: \$TASKPOOL_ALERT_SUMMARY (\$TASKPOOL_HANDLER)"; cat; } >>"$DIR/pages"
END
program refuse_each.sh <<'END'
#!/bin/sh
echo "no such account: $TASKPOOL_BIZ_KEY" >&2
exit 1
END
for account in 1 2 3; do fresh grouped x --biz-key "account $account"; done
drain --handler grouped=./refuse_each.sh --retry none --alert ./page.sh --alert-group 1h
expect "work --alert-group: gave up" 8 'gave-up 3'
expect_that "the alert program was run once, for all" is "$(head -n 1 pages)" '3: 3 grouped: no such account: account # (grouped)'
expect_that "and got a line that counts" grep -q '"event":"alert".*"count":3,.*"reasons":\[{"count":3,"handler":"grouped",' pages
expect_that "and one for each" is "$(grep -c '"biz_key":"account [123]".*"reason":"no such account: account [123]"' pages) $(wc -l <pages)" '3 5'
program page.sh <<END
#!/bin/sh
exit 1
END
fresh grouped x
drain --handler grouped=./refuse.sh --retry none --alert ./page.sh --alert-group 0
expect "an alert program that fails" 8 'gave-up 1' 'did not end with 0 for 1 tasks .1 grouped: no such account.; it is run again in two minutes'
run work --handler x=/bin/true --alert-group 1m
expect "--alert-group without --alert" 2 '' '--alert-group needs --alert PROGRAM'
run work --handler x=/bin/true --alert no-such-program-anywhere --drain
expect "an alert program that is not there" 7 '' 'no-such-program-anywhere'

run work --handler 'a b=/bin/true'
expect "a bad handler name" 2 '' '.'
for bad in '--when-full never' '--pace slow' '--on-crash cry' '--shard x' '--threads-max 2000' '--queue 0' '--retry 1m,' '--retry soon' '--threads 0' '--timeout x' '--batch 5000' '--lease 5' '--timeout 36526d' \
    '--lease 36526d' '--poll 876601h' '--later 3155760000001ms' '--retry 1m,36526d' '--lease 9223372036854775807d'; do
    # shellcheck disable=SC2086
    run work --handler x=/bin/true $bad
    expect "work $bad" 2 '' '; see taskpool work --help'
done

# ---- Stopping --------------------------------------------------------------------------------------

# wait_for COMMAND...: until it succeeds, five minutes at most
wait_for() {
    for _ in $(seq 6000); do
        "$@" && return 0
        sleep 0.05
    done
    return 1
}
gone() { ! kill -0 "$1" 2>/dev/null; }
# Of two SIGTERMs that wait one is lost.
taken() { ! grep -qs '^ShdPnd:.*[4-7c-f]...$' "/proc/$1/status"; }
# await PID: leaves $code
await() {
    wait_for gone "$1" || kill -KILL "$1"
    wait "$1"
    code=$?
}
program steady.sh <<END
#!/bin/sh
echo begun >"$DIR/begun"
while [ ! -e "$DIR/go" ]; do sleep 0.05; done
END
rm -f begun go
fresh steady x
"$TASKPOOL" work --handler steady=./steady.sh --poll 100ms >out 2>err &
worker=$!
expect_that "a program runs" wait_for test -e begun
kill -TERM $worker
kill -0 $worker
touch go
await $worker
expect "SIGTERM lets a program end" 0 '^done 1'
expect_that "its task is done" is "$(state)" "done"
rm -f begun go
fresh steady x
"$TASKPOOL" work --handler steady=./steady.sh --poll 100ms >out 2>err &
worker=$!
expect_that "a program runs again" wait_for test -e begun
# Not SIGINT: a shell without job control has it ignored in the background, and that is respected.
kill -TERM $worker
wait_for taken $worker
kill -TERM $worker
await $worker
expect "a second signal ends the program" 0 'released 1'
expect_that "its task waits, no failure counted" is \
    "$(state) $("$TASKPOOL" show --json "$id" | field failures)" 'pending 0'

program stubborn.sh <<END
#!/bin/sh
trap '' TERM
echo \$\$ >"$DIR/begun"
while :; do sleep 0.1; done
END
# An orphan may stay a zombie where nobody reaps it.
ended() { ! grep -qs '^State:.[^ZX]' "/proc/$1/status"; }
# The second signal ends the program after five seconds; on a busy machine that may be before the third.
for _ in 1 2 3 4 5; do
    rm -f begun
    fresh stubborn x
    "$TASKPOOL" work --handler stubborn=./stubborn.sh --poll 100ms --stop-after 1h >out 2>err &
    worker=$!
    expect_that "a program that minds no SIGTERM runs" wait_for test -s begun
    for _ in 1 2 3; do
        kill -TERM $worker
        wait_for taken $worker
    done
    await $worker
    [ "$code" = 0 ] || break
done
expect "a third signal kills the worker" 143
expect_that "and the program" wait_for ended "$(cat begun)"

# ---- The process list ------------------------------------------------------------------------------

rm -f begun go
fresh steady x
touch go
program watch.sh <<END
#!/bin/sh
tr '\0' ' ' </proc/\$PPID/cmdline >"$DIR/cmdline"
END
fresh watch x
TASKPOOL_DSN='' run work --dsn "$DSN" --handler watch=./watch.sh --drain --poll 100ms
expect "work --dsn" 0 '^done 1'
expect_that "the process list does not show it" is "$(grep -c 'Driver' cmdline) $(grep -c 'dsn xxxx' cmdline)" '0 1'

cp dsn 'd=sn'
fresh watch x
TASKPOOL_DSN='' run work --dsn-file 'd=sn' --handler watch=./watch.sh --drain --poll 100ms
expect "a --dsn-file with an equals sign in its name" 0 '^done 1'
expect_that "is struck out, it might have been the string" is "$(grep -c 'd=sn' cmdline) $(grep -c 'file xxxx' cmdline)" '0 1'

# ---- A database that cannot be written -------------------------------------------------------------

case $BASE_DSN in
*[Ss][Qq][Ll]ite*)
    run stats --dsn 'Driver=SQLite3;Database=/nowhere/x.db'
    expect "a database file that cannot be opened" 4 '' '.'
    if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
        chmod 755 "$DIR"
        "$TASKPOOL" schema install --quiet --dsn "Driver=SQLite3;Database=$DIR/ro.db"
        for file in ro.db*; do chmod 444 "$file"; done
        LD_LIBRARY_PATH=$(dirname "$TASKPOOL") timeout 900 setpriv --reuid=65534 --clear-groups "$TASKPOOL" \
            enqueue h x --retry-for 0 --dsn "Driver=SQLite3;Database=$DIR/ro.db" >out 2>err
        code=$?
        if [ $code = 126 ] || [ $code = 127 ]; then
            skip "a database file that cannot be written" "user nobody cannot run the program"
        else
            expect "a database file that cannot be written" '4|6' '' '.'
        fi
    else
        skip "a database file that cannot be written" "needs root and setpriv"
    fi
    if command -v sqlite3 >/dev/null; then
        newer="Driver=SQLite3;Database=$DIR/newer.db"
        run schema install --quiet --dsn "$newer"
        sqlite3 newer.db "UPDATE tp_meta SET value = '99' WHERE name = 'schema'"
        for command in stats list 'show 0190c3a2-0000-7000-8000-000000000000' 'enqueue h x' 'enqueue --file one.csv' \
            'work --handler h=true --drain' 'schema check' 'schema install'; do
            # shellcheck disable=SC2086
            run $command --dsn "$newer"
            expect "a newer schema: $command" 5 '' 'version 99'
        done
        expect_that "a newer schema gets no task" is "$(sqlite3 newer.db 'SELECT COUNT(*) FROM tp_pending')" 0
        # A terminal that is closed while a file waits for its database.
        held="Driver=SQLite3;Database=$DIR/held.db"
        run schema install --quiet --dsn "$held"
        mkfifo rows locks
        "$TASKPOOL" enqueue --file - --format jsonl --batch 1 --retry-for 1h --dsn "$held" <rows >out 2>err &
        import=$!
        exec 7>rows
        echo '{"handler":"held"}' >&7
        there() { [ "$(sqlite3 held.db 'SELECT COUNT(*) FROM tp_pending')" = 1 ]; }
        expect_that "its first row is there" wait_for there
        sqlite3 -bail -cmd '.timeout 300000' held.db <locks >locked &
        exec 8>locks
        printf 'BEGIN IMMEDIATE;\nSELECT 1;\n' >&8
        wait_for test -s locked
        echo '{"handler":"held"}' >&7
        expect_that "its second waits" wait_for grep -q 'trying again' err
        kill -HUP $import
        await $import
        exec 7>&- 8>&-
        sed -i '/trying again/d' err
        expect "SIGHUP ends the wait and says where to go on" 6 '' 'go on with --skip 1$'
    else
        skip "a newer schema" "needs sqlite3"
    fi
    # A disk that fills up while a file is read: whole batches are there, and the message says how many.
    mkdir full
    if mount -t tmpfs -o size=2m taskpool-test full 2>mount.log; then
        trap 'umount "$DIR/full"; rm -rf "$DIR"' EXIT
        seq -f 'F%.0f,some text to fill the disk with' 1 30000 | sed '1i biz_key,text' >fill.csv
        full="Driver=SQLite3;Database=$DIR/full/x.db"
        run schema install --quiet --dsn "$full"
        run enqueue --file fill.csv --handler full --json --retry-for 0 --dsn "$full"
        expect "the disk is full" 6 '"rows":[0-9]+000,' 'go on with --skip [0-9]+000$'
        rows=$(field rows <out)
        run list --handler full --limit 100000 --json --dsn "$full"
        expect_that "whole batches are there" is "$(lines_of out)" "$rows"
    else
        skip "the disk is full" "cannot mount a small tmpfs here"
    fi
    ;;
esac

finish
