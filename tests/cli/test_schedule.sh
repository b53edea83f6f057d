#!/bin/bash
# taskpool schedule as a user meets it: test_schedule.sh PATH_TO_TASKPOOL.
# shellcheck source-path=SCRIPTDIR source=pool.sh
. "$(dirname "${BASH_SOURCE[0]}")/pool.sh"

# run ARGS...: runs taskpool schedule; leaves $code, and ./out and ./err.
run() {
    feed /dev/null schedule "$@"
}

# look: reads all schedules into ./listed, in lines of NAME MEMBER VALUE
look() {
    "$TASKPOOL" schedule list --json | python3 -c 'import json, sys
for line in sys.stdin:
    row = json.loads(line)
    for member in row: print(row["name"], member, json.dumps(row[member]))' >listed
}

# expect_field WHAT NAME MEMBER VALUE: as it was looked at last
expect_field() {
    grep "^$2 $3 " listed >out
    : >err
    [ "$(cat out)" = "$2 $3 $4" ]
    code=$?
    expect "$1" 0
}

# fires N NAME: fires until so many tasks were made in all, for five minutes at most
fires() {
    local total=0 until=$((SECONDS + 300))
    while [ $total -lt "$1" ] && [ $SECONDS -lt $until ]; do
        run fire --json
        [ $code = 0 ] || break
        total=$((total + $(sed -n 's/.*"fired": *\([0-9]*\).*/\1/p' out)))
    done
    [ $code != 0 ] || [ $total -ge "$1" ] || code=99
    expect "$2" 0 '"wait_ms"'
}

tasks_of() {
    "$TASKPOOL" list --json --handler "$1" --limit 1000 | wc -l | tr -d ' '
}

# ---- next, which asks no database -------------------------------------------------------------------

kept=$TASKPOOL_DSN
unset TASKPOOL_DSN
run next --rule '30 2 * * *' --time-zone Europe/Berlin --after 2026-03-28T12:00:00Z --count 2
expect "a time in the gap" 0 '^2026-03-29T01:00:00.000Z  2026-03-29T03:00:00\+02:00$'
expect "and the day after" 0 '^2026-03-30T00:30:00.000Z  2026-03-30T02:30:00\+02:00$'
run next --rule '0 0 9 ? * 2#1' --after 1767225600000 --count 1 --json
expect "next as JSON" 0 '^\{ *"at": *1767603600000, *"local": *"2026-01-05T09:00:00\+00:00" *\}$'
run next --rule 'every 90m' --after 2026-01-01T00:00:00Z --count 1
expect "a period" 0 '^2026-01-01T01:30:00.000Z'
run next --rule '@daily' --missed all
expect "an option of add" 2 '' 'schedule next takes no --missed'
run list --count 3
expect "an option of next" 2 '' 'schedule list takes no --count'
run next --rule '@daily' --time-zone UTC+3
expect "a zone that is none" 2 '' "there is no time zone 'UTC\+3'"
run next --rule '@daily'
expect "five, from now" 0
[ "$(wc -l <out)" = 5 ] || code=98
expect "five lines" 0
run next --rule '0 0 30 2 *'
expect "never" 1 '' 'no planned time'
run next --rule '61 * * * *'
expect "a bad rule" 2 '' 'the minute "61" cannot be read at "61": 0 to 59 is allowed'
run next --rule '0 8 * * *' --time-zone Mars/Olympus
expect "a bad zone" 2 '' "there is no time zone 'Mars/Olympus'"
run next --rule '0 8 * * *' --after yesterday
expect "a bad time" 2 '' '--after must be'
run next
expect "next of nothing" 2 '' 'next takes the NAME'
run next name --rule '0 8 * * *'
expect "next of both" 2
run --help
expect "help" 0 'taskpool schedule add report'
run
expect "no action" 2 '' 'an argument is missing'
run explode
expect "an unknown action" 2 '' 'schedule takes add, list, remove, pause, resume, next or fire'
export TASKPOOL_DSN=$kept

# ---- Before there is a schema --------------------------------------------------------------------------

run list
expect "no tables" 5
# Where another server stands in for Oracle, it gets the functions it lacks first.
[ -z "${TASKPOOL_TEST_PREPARE:-}" ] || "$TASKPOOL_TEST_PREPARE" "$PREFIX" || exit 2
"$TASKPOOL" schema install --quiet || exit 2

# ---- add and list ------------------------------------------------------------------------------------------

run list
expect "none yet" 1 '' 'there are no schedules'
run list --json
expect "none yet, as JSON" 1
run add night '30 2 * * MON-FRI' report '{"kind":"daily"}' --time-zone America/New_York --missed all --missed-max 7 --alone \
    --biz-key b-1 --shard 2 --priority -3 --max-failures 4
expect "add" 0
run add night 'every 1h' other
expect "the name is there" 0 '' 'already there, nothing was changed: a schedule night'
run add night 'every 1h' other --json
expect "the same as JSON" 0 '"added": *false'
look
expect_field "the rule is kept" night rule '"30 2 * * MON-FRI"'
expect_field "the zone" night time_zone '"America/New_York"'
expect_field "the parameters" night params '"{\"kind\":\"daily\"}"'
expect_field "the policy" night missed '"all"'
expect_field "its bound" night missed_max 7
expect_field "alone" night alone true
expect_field "the key" night biz_key '"b-1"'
expect_field "the shard" night shard 2
expect_field "the priority" night priority -3
expect_field "the failures" night max_failures 4
expect_field "nothing fired" night last_at null
printf 'from a pipe' | "$TASKPOOL" schedule add pipe '@yearly' report - || failed=$((failed + 1))
look
expect_field "parameters from standard input" pipe params '"from a pipe"'
run list
expect "list" 0 '^night +30 2 \* \* MON-FRI +America/New_York +report +all +yes +20'
run next night --count 3
expect "next of it" 0 'T02:30:00-0[45]:00$'
[ "$(wc -l <out)" = 3 ] || code=98
expect "three lines" 0
run add bad '0 8 * * *' 'two words'
expect "a bad handler" 2 '' 'a handler name may hold'
run add bad '0 8 * * *'
expect "no handler" 2 '' 'add takes NAME RULE HANDLER'
run add bad '0 0 30 2 *' report
expect "a rule that never fires" 2 '' 'no planned time in the future'
run add bad '* * *' report
expect "a bad rule" 2 '' 'has 3 fields'
run add bad '@hourly' report --missed sometimes
expect "a bad policy" 2 '' '--missed must be once, skip or all'
run add bad '@hourly' report --missed-max 0
expect "a bad bound" 2 '' '--missed-max must be'

# ---- fire -------------------------------------------------------------------------------------------------------

run fire --json
expect "nothing is due" 0 '"fired": *0, *"wait_ms": *[0-9]+'
run add quick 'every 50ms' quick
expect "add quick" 0
fires 2 "it fires"
[ "$(tasks_of quick)" -ge 2 ] || code=98
expect "its tasks are there" 0
"$TASKPOOL" schedule remove quick
run add single 'after 50ms' single
fires 1 "one after the other fires"
run fire --json
before=$(tasks_of single)
run fire
expect "not while its task is open" 0 '^fired 0$'
[ "$before $(tasks_of single)" = '1 1' ] || code=98
expect "one task" 0
run next single
expect "it has no planned time" 1 '' 'has no planned time'
"$TASKPOOL" work --quiet --drain --handler single=/bin/true --poll 50ms >/dev/null 2>&1
fires 1 "it fires again when its task has ended"

# ---- pause, resume, remove -------------------------------------------------------------------------------------

run pause night
expect "pause" 0
look
expect_field "it is paused" night paused true
expect_field "without a planned time" night next_at null
run next night
expect "next of a paused one" 1 '' 'night is paused'
run list
expect "the list says so" 0 '^night .* paused '
run resume night
expect "resume" 0
look
expect_field "it goes on" night paused false
run remove night
expect "remove" 0
for action in remove pause resume next; do
    run $action night
    expect "$action of none" 1 '' 'no schedule has the name night'
    run $action
    expect "$action without a name" 2
done
run list extra
expect "list takes no name" 2
run fire extra
expect "fire takes no name" 2

finish
