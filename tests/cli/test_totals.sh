#!/bin/bash
# taskpool control-totals as a user meets it: test_totals.sh PATH_TO_TASKPOOL.
# shellcheck source-path=SCRIPTDIR source=pool.sh
. "$(dirname "${BASH_SOURCE[0]}")/pool.sh"

run schema install
expect "tables" 0
{
    echo 'handler,params'
    for amount in 0.10 0.20 12.50 -3 '"7.25"'; do echo "pay,\"{\"\"amount\"\":${amount//\"/\"\"}}\""; done
    echo 'refund,"{""amount"":99999999999999.99}"'
} >tasks.csv
feed tasks.csv enqueue --file - --retry-for 60s
expect "six tasks" 0

# The day by the database's clock, and the zone's.
ms=$("$TASKPOOL" list --json --limit 1 | sed -n 's/.*"created_at": *\([0-9]*\).*/\1/p')
day=$(date -u -d "@$((ms / 1000))" +%F)
next=$(date -u -d "$day + 1 day" +%F)
# At midnight some tasks may be of the next day.
skip_at_midnight() {
    "$TASKPOOL" list --json | sed -n 's/.*"created_at": *\([0-9]*\).*/\1/p' | while read -r at; do date -u -d "@$((at / 1000))" +%F; done | sort -u >days
    if [ "$failed" = 0 ] && [ "$(cat days)" != "$day" ]; then
        echo "the tasks were put in around midnight; SKIPPED"
        exit 77
    fi
}
skip_at_midnight

run control-totals --day "$day" --amount /amount
expect "sums are exact" 0 'pay +came +5 +17\.05'
expect "an open task is open" 0 'pay +open +5 +17\.05'
expect "large numbers keep their cents" 0 'refund +came +1 +99999999999999\.99'
run control-totals --day "$next" --amount /amount --json
expect "another day has none" 0 '"totals": ?\[ *\]'
run control-totals --day "$day" --handler refund
expect "one handler, counts only" 0 'refund +came +1 +-'

# ---- What the application expects ----------------------------------------------------------------------

printf 'pay 5 17.05\n# a comment\nrefund|1|99999999999999.99\n' >expected
feed expected control-totals --day "$day" --amount /amount --expect -
expect "as expected" 0 'pay +came'
printf 'pay 5 17.06\nrefund 1 99999999999999.99\n' >expected
run control-totals --day "$day" --amount /amount --expect expected
expect "a cent more" 12 'pay' 'pay, came: expected 5 tasks, sum 17\.06; came in 5 tasks, sum 17\.05'
printf 'pay 5 17.05\n' >expected
run control-totals --day "$day" --amount /amount --expect expected
expect "a handler that is not expected" 12 'pay' 'refund, came: expected 0 tasks'
printf 'pay 5 17.05\nrefund 1 99999999999999.99\nbonus 1 1\n' >expected
run control-totals --day "$day" --amount /amount --expect expected
expect "a handler that is missing" 12 'pay' 'bonus, came: expected 1 tasks, sum 1; came in 0'
: >expected
run control-totals --day "$day" --amount /amount --expect expected
expect "a query that says nothing" 12 'pay' '2 totals differ'
run control-totals --day "$day" --amount /amount --expect-command 'echo pay 5 17.05; echo refund 1 99999999999999.99'
expect "a command that agrees" 0 'pay +came'
run control-totals --day "$day" --amount /amount --expect-command 'echo pay 5 17.05'
expect "a command that does not" 12 'pay' 'refund, came: expected 0 tasks'
run control-totals --day "$day" --amount /amount --expect-command 'echo pay 5 17.05; echo refund 1 99999999999999.99; exit 3'
expect "a command that fails" 74 '' 'exit code 3; nothing was compared'
run control-totals --day "$day" --amount /amount --expect-command 'sh -c "kill -PIPE \$\$"; [ $? = 141 ] && echo pay 5 17.05; echo refund 1 99999999999999.99'
expect "a command's programs are ended by SIGPIPE" 0 'pay +came'
run control-totals --day "$day" --amount /amount --expect-command 'while :; do echo pay five; done'
expect "one that writes on behind a bad line is not waited for" 3 '' 'line 1 is not HANDLER COUNT SUM'
printf 'pay five\n' >expected
run control-totals --day "$day" --amount /amount --expect expected
expect "a line that is none" 3 '' 'line 1 is not HANDLER COUNT SUM'
printf 'pay 5\npay 5\n' >expected
run control-totals --day "$day" --expect expected
expect "a handler named again" 3 '' 'line 2'

# ---- A report, and what changes after it -----------------------------------------------------------------

run control-totals --day "$day" --amount /amount --report day.json
expect "a report" 0
run control-totals --verify day.json
expect "nothing changed" 0 'pay +came +5 +17\.05'
run skip --handler refund --id "$("$TASKPOOL" list --handler refund --json | sed -n 's/.*"id": *"\([^"]*\)".*/\1/p')" --why test
expect "one is skipped" 0
run control-totals --verify day.json
expect "a change is seen" 12 'refund +skipped +1' 'refund, open: the report has 1 tasks, sum 99999999999999\.99; now there are 0 tasks'
echo '{"day":"x"}' >bad.json
run control-totals --verify bad.json
expect "no report" 3 '' 'bad.json is no report'
run control-totals --verify none.json
expect "a report that is not there" 74 '' 'none.json cannot be read'
run control-totals --day "$day" --report /nowhere/day.json
expect "a report that cannot be written" 74 'pay' 'cannot be written'

# ---- Params without the number --------------------------------------------------------------------------

for params in '{"amount":1e3}' '{"amount":null}' '{}' 'text' '{"amount":1,"amount":2}' '{"amount":12345678901234567890}' '[1]'; do
    run enqueue odd "$params"
done
skip_at_midnight
run control-totals --day "$day" --amount /amount --handler odd
expect "no number is no zero" 12 'odd +came +7 +0' '7 tasks have no number at /amount'

# ---- The command line -----------------------------------------------------------------------------------

run control-totals
expect "no day" 2 '' '--day is missing'
run control-totals --day 2026-02-30
expect "a day that is not in the calendar" 2 '' 'no 2026-02-30 in the calendar'
run control-totals --day 24.11.2026
expect "another date format" 2 '' 'like 2026-11-24'
run control-totals --day 2026-11-24 --time-zone Mars/Olympus
expect "no zone" 2 '' "no time zone"
run control-totals --day 2026-11-24 --amount amount
expect "no pointer" 2 '' 'JSON pointer'
run control-totals --day 2026-11-24 --verify day.json
expect "two ways at once" 2 '' 'leave the other options out'
run control-totals --day 2026-03-29 --time-zone Europe/Berlin --json
expect "a day of 23 hours" 0 '"from": ?1774738800000.*"until": ?1774821600000'
finish
