#!/bin/bash
# The operators' commands as they meet them: test_operate.sh PATH_TO_TASKPOOL.
# shellcheck source-path=SCRIPTDIR source=pool.sh
. "$(dirname "${BASH_SOURCE[0]}")/pool.sh"

# expect_silence NAME [OUT_REGEX]: the last run went well and said nothing on standard error.
expect_silence() {
    [ -s err ] && code="$code, and it said something"
    expect "$1" 0 "${2:-}"
}

# expect_count NAME POOL HANDLER NUMBER
expect_count() {
    local found
    found=$(count "$2" "$3")
    code=$found
    : >out
    : >err
    expect "$1" "$4"
}

# ---- Before there is a database --------------------------------------------------------------------

for command in retry skip release purge pause resume history retention check fsm; do
    run $command --help
    expect "$command --help shows examples" 0 "^  taskpool $command"
done
for command in retry skip release; do
    run $command --why nothing
    expect "$command without a selection" 2 '' 'nothing was selected; give --id, --handler'
done
run purge --handler pay
expect "purge without an age" 2 '' 'say how old with --older'
run retry --all --id 0190c3a2-7b1e-7f3a-9c55-2f6f0c1d2e3f
expect "--all and --id" 2 '' 'exclude each other'
run purge --older soon
expect "an age that is none" 2 '' '--older must be a duration'
run skip --older 0
expect "an age of nothing is not a selection" 2 '' '--older 0 is everything'
run retention finished
expect "retention without a time" 2 '' 'for how long'
TASKPOOL_DSN='' run fsm
expect "fsm needs no database" 0 '^\| pending handling \| complete \| holder +\| finished done '

sed -n '/^| from  /,/^$/p' "$HERE/../../docs/lifecycle.md" | grep '^|' | diff - out >differences
code=$?
expect "docs/lifecycle.md has the same table" 0

run check --rows --grace 1d
expect "check before the schema is there" 5 '' '.'
if [ -n "${TASKPOOL_TEST_PREPARE:-}" ]; then "$TASKPOOL_TEST_PREPARE" "$PREFIX" >prepare.log 2>&1 || cat prepare.log; fi
run schema install
expect "schema install" 0

# ---- A day of an operator --------------------------------------------------------------------------

for i in 1 2 3; do run enqueue pay "$i"; done
run work --handler pay=/bin/false --retry none --drain --quiet
expect "three payments fail" 8
expect_count "they are in the failed pool" failed pay 3
run history
expect "history tells of them" 0 'gave-up .* pay +1 '
for action in retry skip release 'purge --older 1d'; do
    # shellcheck disable=SC2086 # words
    run $action --handler nope
    expect "$action of a name that nobody has" 0 ' 0$' 'has the handler nope so far'
done
run retry --handler nope --quiet
expect "not told when quiet" 0
expect_that "indeed not" is "$(<err)" ''
run release --handler pay
expect "nothing is said of a handler that has tasks" 0 '^released 0$'
expect_that "indeed nothing" is "$(<err)" ''
run retry --handler pay --pool failed --dry-run
expect "a dry run counts" 0 '^3 would be retried$'
id=$("$TASKPOOL" list --pool failed --json --limit 1 | sed 's/.*"id":"\([^"]*\)".*/\1/')
run retry --id "$id" --who anna@desk --why 'bank is back'
expect "one is retried" 0 '^retried 1$'
run history "$id"
expect "which is recorded with who and why" 0 'retried +.* pay +- +anna@desk +bank is back$'
run retry --id "$id"
expect "retrying it again finds nothing to do" 1 '^retried 0$' '1 of 1 ids is no task that could be retried'
run retry --id "$id" --id "${id^^}" --id 0190c3a2-7b1e-7f3a-9c55-2f6f0c1d2e3f
expect "an id given twice is one" 1 '^retried 0$' '2 of 2 ids are no task'
run retry --handler pay --state failed --json
expect "the others, as JSON" 0 '^\{"action":"retry","done":2,"unstored":0,"passed":0,"dry_run":false\}$'
expect_count "all are pending" pending pay 3
run skip --id "$id" --why 'paid by hand'
expect "skip" 0 '^skipped 1$'
run show "$id"
expect "its reason is there" 0 '^reason +paid by hand$'
run release --all
expect "nothing is being handled" 0 '^released 0$'
run work --handler pay=/bin/true --drain --quiet
expect "the rest is paid" 0
expect_count "all are finished" finished pay 3
run enqueue mail x --dedup-key once
run work --handler mail=/bin/false --retry none --drain --quiet
run enqueue mail y --dedup-key once
run retry --pool failed --handler mail
expect "an open dedup_key is passed over and said" 0 '^retried 0, passed over 1: .*dedup_key'
run skip --reason '' --dry-run
expect "an empty part of a reason is not a selection" 2 '' 'the value of --reason is empty'
run skip --state handling
expect "skip of tasks that are being handled" 2 '' "changes no task in state 'handling'"
run retry --pool failed --state pending
expect "a state that the pool does not have" 2 '' "in state 'pending' of pool failed"
run skip --pool finished --handler mail
expect "skip of finished tasks" 2 '' 'retry and skip take pending or failed'

# ---- Empty values ----------------------------------------------------------------------------------

for empty in 'list --biz-key' 'list --handler' 'list --state' 'list --pool' 'list --after' 'list --limit' 'enqueue pay 1 --biz-key' \
    'enqueue pay 1 --dedup-key' 'enqueue pay 1 --id' 'enqueue pay 1 --shard' 'enqueue pay 1 --priority' 'enqueue pay 1 --due-at' \
    'enqueue --file x --handler' 'retry --id' 'retry --handler' 'skip --state' 'release --who' 'purge --older' 'work --handler' \
    'work --handler pay=true --shard' 'work --handler pay=true --plan' 'schedule add x @daily pay --biz-key' \
    'schedule add x @daily pay --time-zone' 'pause pay --why' 'history --limit' 'retention --who' 'bench --plan' 'list --dsn-file'; do
    # shellcheck disable=SC2086
    run $empty ''
    expect "an empty value: $empty" 2 '' "the value of --${empty##*--} is empty; give one, or leave the option out"
done
for word in 'show' 'history' 'pause' 'resume' 'enqueue' 'schedule remove' 'schedule pause' 'schedule next'; do
    # shellcheck disable=SC2086
    run $word ''
    [ "$code" = 1 ] && code=2 # not found
    expect "an empty argument: $word" 2 '' '.'
done
expect_count "nothing came of them" pending pay 0

# ---- Pause -----------------------------------------------------------------------------------------

run pause
expect "nothing is paused" 1 '' 'nothing is paused'
run enqueue bill 1
run pause bill --who anna@desk --why 'the bank is closed'
expect "pause" 0 '^paused bill$'
run pause bill
expect "pausing it again" 0 '' 'bill was paused already'
run pause
expect "pause shows who and why" 0 '^bill +20.* anna@desk +the bank is closed$'
run stats
expect "so does stats" 0 '^bill +20.* anna@desk +the bank is closed$'
run stats --json
expect "also as JSON" 0 '"paused":\[\{"handler":"bill","since":[0-9]+,"who":"anna@desk","why":"the bank is closed"\}\]'
timeout 900 "$TASKPOOL" work --handler bill=/bin/true --drain --quiet >work.out 2>&1 </dev/null &
worker=$!
for _ in $(seq 3000); do # it runs, and takes nothing
    run workers --json
    grep -q '"state":"running"' out && break
    sleep 0.1
done
expect "a worker of a paused handler" 0 '"state":"running"'
run resume bill --json
expect "resume" 0 '^\{"handler":"bill","changed":true\}$'
wait "$worker"
code=$?
expect "its tasks are handled again" 0
run resume bill
expect "resuming it again" 1 '' 'bill was not paused'
run pause bil
expect "pausing a name that nobody has" 0 '^paused bil$' 'no open task, worker or schedule has the handler bil so far.*taskpool resume bil'
run resume bil
run pause bil --json
expect "its JSON stays alone on standard output" 0 '^\{"handler":"bil","changed":true\}$' 'has the handler bil so far'
run resume bil
run pause bil --quiet
expect_silence "pausing it quietly"
run resume bil
run pause bill
expect_silence "pausing what a worker has" '^paused bill$'
run resume bill
run enqueue letter x --delay 1d
run pause letter
expect_silence "pausing what has a task, due tomorrow" '^paused letter$'
run resume letter
run schedule add monthly @monthly statement
run pause statement
expect_silence "pausing what a schedule makes" '^paused statement$'
run resume statement
run history
expect "both are recorded" 0 'paused .* bill +- +anna@desk +the bank is closed$'
run history --json
events=$(wc -l <out)
run history --limit $((events - 1))
expect "a history that the limit cuts" 0 '^AT ' 'there are more; a larger --limit shows them'
code=$(wc -l <out)
expect "shows as many as the limit, below the titles" "$events"
run history --limit "$events"
expect_silence "one that it does not cut"
run history --limit 1 --json
expect_silence "--json says nothing of more" '^\{'
run history --limit 1 --quiet
expect_silence "nor does --quiet"

# ---- Purge and keep --------------------------------------------------------------------------------

run purge --older 1h --handler pay
expect "young ones stay" 0 '^purged 0$'
run purge --all --handler pay --dry-run
expect "a dry run of a purge" 0 '^3 would be purged$'
run purge --all --handler pay --limit 2
expect "purge" 0 '^purged 2$'
run history --json
expect "which is recorded" 0 '"event":"purged","id":null,.*"reason":"2 finished tasks"'
run history 0190c3a2-7b1e-7f3a-9c55-2f6f0c1d2e3f
expect "no history of an unknown task" 1 '' 'nothing is recorded of this task'
run retention
expect "kept for ever at first" 0 '^finished +for ever$'
run retention
expect "but what workers did" 0 '^activity +30d$'
run retention finished 90d --who anna@desk
expect "keep" 0 '^finished +90d$'
run retention --json
expect "keep --json" 0 '^\{"finished":7776000000,"failed":null,"activity":2592000000\}$'
run retention activity forever
expect "keep activity for ever" 0 '^activity +for ever$'
run retention activity 7d
expect "keep activity" 0 '^activity +7d$'
run history --limit 1
expect "which is recorded" 0 ' kept .*activity: 7d'
run retention pending 1d
expect "only settled tasks are kept" 2 '' 'finished, failed and activity'
run retention --clean
expect "keep --clean" 0 '^deleted 0$'
run retention finished forever
expect "for ever again" 0 '^finished +for ever$'

# ---- Check -----------------------------------------------------------------------------------------

run check --rows --grace 1d
expect "a good pool" 0 '^ok +one pool: '
run check --rows --grace 1d --json
expect "check --json" 0 '\{"check":"one pool","ok":true,"count":0,'
if [[ $TASKPOOL_DSN == *SQLite3* ]] && command -v sqlite3 >/dev/null; then
    file=${TASKPOOL_DSN##*Database=}
    seq -f '{"handler":"halves","params":"%g"}' 502 >halves.jsonl
    run enqueue --file halves.jsonl
    sqlite3 "${file%%;*}" "CREATE TRIGGER ${PREFIX}no BEFORE INSERT ON ${PREFIX}finished WHEN NEW.params = '502'
                           BEGIN SELECT RAISE(ABORT, 'not this one'); END"
    run skip --handler halves --limit 502
    expect "a failure in the second transaction says what the first did" 6 '' 'not this one.*; 500 were done before this: go on with --limit 2$'
    run skip --handler halves
    expect "and nothing of it when nothing was done" 6 '' 'not this one[^;]*$'
    sqlite3 "${file%%;*}" "DROP TRIGGER ${PREFIX}no"
    sqlite3 "${file%%;*}" "UPDATE ${PREFIX}pending SET state = 'handling' WHERE handler = 'mail'"
    run check --grace 1d --rows
    expect "a bad pool" 9 '^BAD +owners: 1 tasks are being handled by nobody'
    expect "says what to do" 9 'what to do: taskpool release --id '
    run release --handler mail
    expect "which helps" 0 '^released 1$'
    run check --grace 1d --rows --quiet
    expect "check --quiet says nothing of a good pool" 0
fi

# ---- The audit -------------------------------------------------------------------------------------

source=$HERE/../..
# verify [ANCHOR]: the exported chain, read without taskpool.
verify() {
    "$TASKPOOL" audit --all --json | "$source/examples/audit/verify.py" "$@" >out 2>err
    code=$?
}

run audit --action kept --limit 1
expect "the last act of a kind" 0 ' kept .*finished .*for ever' 'there are more; a larger --limit shows them, --all all of them'
run audit --action skipped --who root@desk
expect "no act of somebody" 1 '' 'nothing is recorded'
run resume nobody --why 'it was not paused'
run audit --subject nobody --json
expect "doing nothing is no act" 1
run schedule add audited @daily pay --who carl --why 'new contract'
run audit --limit 1
expect "a schedule has who and why" 0 ' carl +schedule-added +audited .*new contract'
run schedule remove audited --why 'old contract' --who carl
run audit --subject audited --csv
expect "--csv" 0 'carl,schedule-removed,audited,1,,old contract' ''
run audit --all --limit 3
expect "all or some" 2 '' '--all and --limit exclude each other'
run check --grace 1d --audit # 9: generic knows no triggers
expect "a whole chain" '0|9' '^ok +chain: [0-9]+ rows follow each other, unchanged'
run check --grace 1d --anchor 17
expect "an anchor alone" 2 '' '--anchor goes with --audit'
run check --grace 1d --audit --anchor 17
expect "an anchor that is none" 2 '' "'17' is no anchor"
anchor=$("$TASKPOOL" audit --anchor)
run check --grace 1d --audit --anchor "$anchor"
expect "the anchor is found" '0|9' '^ok +anchor: the chain still has the row of the anchor'
verify "$anchor"
expect "so says a script without taskpool" 0 'rows follow each other'
if [[ $TASKPOOL_DSN == *SQLite3* ]] && command -v sqlite3 >/dev/null; then
    file=${TASKPOOL_DSN##*Database=}
    sqlite3 "${file%%;*}" "DROP TRIGGER IF EXISTS ${PREFIX}audit_update; UPDATE ${PREFIX}audit SET who = 'mallory' WHERE seq = 2"
    run check --grace 1d --audit --anchor "$anchor"
    expect "a changed row" 9 '^BAD +chain: row 2 was changed' ''
    expect "and a trigger that is gone" 9 '^BAD +append-only: this user may change rows' ''
    verify "$anchor"
    expect "so says the script" 1 'row 2 does not fit its hash'
fi

finish
