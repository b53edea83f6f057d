#!/bin/bash
# taskpool calendar as a user meets it, and what schedules and tasks make of one: test_calendar.sh PATH_TO_TASKPOOL.
# shellcheck source-path=SCRIPTDIR source=pool.sh
. "$(dirname "${BASH_SOURCE[0]}")/pool.sh"
examples=$HERE/../../examples/calendars

[ -z "${TASKPOOL_TEST_PREPARE:-}" ] || "$TASKPOOL_TEST_PREPARE" "$PREFIX" || exit 2
"$TASKPOOL" schema install --quiet || exit 2

# ---- The command line ----------------------------------------------------------------------------------------

run calendar
expect "no action" 2 '' 'an argument is missing'
run calendar explode
expect "an unknown action" 2 '' 'calendar takes import, list, show, day or remove'
run calendar list --nth 3
expect "an option of day" 2 '' 'calendar list takes no --nth'
run calendar list
expect "none yet" 1 '' 'there are no calendars'
run calendar show none
expect "no such" 1 '' 'no calendar has the name none'
run calendar remove none
expect "nothing to remove" 1 '' 'no calendar has the name none'
run calendar day none 2026-01-01
expect "no day of it" 2 '' 'there is no calendar none'
run calendar import bank missing.csv
expect "no file" 2 '' 'missing.csv cannot be opened'

# ---- CSV -------------------------------------------------------------------------------------------------------

printf 'kind,date,name,cut_off\nclosed,2027-12-25,Christmas,\nhalf,2027-12-24,"Eve, half",12:30\nopen,2027-12-18,,\n' >bank.csv
run calendar import bank bank.csv --time-zone Europe/Berlin --cut-off 16:00 --who tester
expect "import" 0 '^bank: 3 days$'
run calendar import bank bank.csv --time-zone Europe/Berlin --cut-off 16:00
expect "the same again" 0 '^bank: 3 days, as it was$'
run calendar list
expect "list" 0 '^bank +Europe/Berlin +MON-FRI +16:00 +2027-01-01 +2027-12-31 +3 +20.*tester$'
run calendar show bank --json
expect "show" 0 '"date":"2027-12-24","kind":"half","cut_off":"12:30","name":"Eve, half"'
run calendar day bank 2027-12-24
expect "a half day" 0 '^2027-12-24  half  until 2027-12-24T11:30:00.000Z$'
run calendar day bank 2027-12-25
expect "a closed day" 1 '^2027-12-25  closed$'
run calendar day bank 2027-12-24 --nth -4 --json
expect "the fourth before" 0 '"date":"2027-12-20","kind":"open"'
run calendar day bank 2027-12-17 --nth 1
expect "an open Saturday" 0 '^2027-12-18  open'
run calendar day bank 2028-01-03
expect "a day that it does not know" 2 '' 'knows the days from 2027-01-01 to 2027-12-31 only'
feed bank.csv calendar import piped - --from 2027-12-20 --to 2028-12-31
expect "of a part" 0 '^piped: 2 days$'
for bad in 'day\n2027-12-25' 'date,kind\n2027-12-25,shut' 'date,date\n1,2' 'date\n2027-02-30' 'date\n2027-02-03\n2027-02-03' '' \
    'date,kind\n2027-12-24,half'; do
    # shellcheck disable=SC2059
    printf "$bad" >bad.csv
    run calendar import bad bad.csv
    expect "refused: ${bad//\\n/ }" 2 '' .
done
run calendar show bad
expect "none of them is there" 1

# ---- iCalendar -------------------------------------------------------------------------------------------------

cat >bank.ics <<'END'
BEGIN:VCALENDAR
VERSION:2.0
PRODID:-//tests//EN
BEGIN:VEVENT
UID:1
DTSTART;VALUE=DATE:20271225
RRULE:FREQ=YEARLY
EXDATE;VALUE=DATE:20281225
SUMMARY:Christmas\, but not in 2028
END:VEVENT
BEGIN:VEVENT
UID:2
DTSTART:20271224T110000Z
SUMMARY:Eve
END:VEVENT
BEGIN:VEVENT
UID:3
DTSTART:20271223T130000
SUMMARY:wherever one is
END:VEVENT
BEGIN:VEVENT
UID:4
DTSTART;VALUE=DATE:20270802
DTEND;VALUE=DATE:20270805
END:VEVENT
BEGIN:VEVENT
UID:5
DTSTART;VALUE=DATE:20270809
STATUS:CANCELLED
END:VEVENT
END:VCALENDAR
END
run calendar import ics bank.ics
if grep -q 'built without libical' err; then
    skip "calendars from iCalendar" "this taskpool was built without libical"
else
    expect "events that recur for ever" 2 '' 'say by --to until when the calendar is known: "Christmas, but not in 2028"'
    run calendar import ics bank.ics --time-zone Europe/Berlin --to 2029-12-31
    expect "iCalendar" 0 '^ics: 7 days$'
    run calendar show ics
    expect "its half day" 0 '^2027-12-24 +half +12:00 +Eve$'
    expect "its floating half day" 0 '^2027-12-23 +half +13:00 '
    expect "three days" 0 '^2027-08-04 +closed'
    expect "which recurs" 0 '^2029-12-25 +closed'
    expect_that "one of them is left out" is "$(grep -c '^2028\|^2027-08-0[59]' out)" 0
    printf 'BEGIN:VCALENDAR\nBEGIN:VEVENT\nDTSTART:2027\nEND:VEVENT\nEND:VCALENDAR\n' >bad.ics
    run calendar import bad bad.ics
    expect "no time" 2 '' 'DTSTART'
    feed bank.csv calendar import bad - --format ics
    expect "no iCalendar" 2 '' 'this is no iCalendar file'
fi

# ---- The examples, day by day over ten years -------------------------------------------------------------------

run calendar import TARGET2 "$examples/target2.csv" --time-zone Europe/Berlin --cut-off 18:00
expect "TARGET2" 0
run calendar import germany "$examples/germany.ics" --time-zone Europe/Berlin --from 2025-01-01 --to 2040-12-31
expect "Germany" 0 '' || true
for name in TARGET2 germany; do
    "$TASKPOOL" schedule next --rule '0 12 * * *' --time-zone Europe/Berlin --calendar $name --after 2025-12-31T22:59:59Z \
        --count 2600 2>err | sed '/  203[6-9]/d' >days
    /usr/bin/python3 "$HERE/calendar_days.py" $name 2026 2035 <days >out
    code=$?
    if [ $code = 77 ] && [ "${CI:-}" != true ]; then
        skip "$name over ten years" "python3-workalendar is missing"
    else
        expect "$name over ten years is as workalendar says" 0 '^3652 days, 25[0-9][0-9] open, 0 differ'
    fi
done

# ---- Schedules and tasks ---------------------------------------------------------------------------------------

next() {
    run schedule next --rule "$1" --calendar TARGET2 --closed "$2" --after 2026-12-24T00:00:00Z --count 2
}
next '0 9 25 * *' skip
expect "skip" 0 '^2027-01-25T09:00:00.000Z'
next '0 9 25 * *' before
expect "before" 0 '^2026-12-24T09:00:00.000Z'
next '0 9 25 * *' after
expect "after" 0 '^2026-12-28T09:00:00.000Z'
run schedule next --rule '@daily' --closed after
expect "without a calendar" 2 '' '--closed goes with --calendar'
run schedule next --rule '@daily' --calendar TARGET2 --closed never
expect "no such policy" 2 '' '--closed must be skip, before or after'
run schedule next --rule '0 9 25 * *' --calendar TARGET2 --after 2040-12-31T00:00:00Z
expect "behind the calendar" 2 '' 'it ends at 2040-12-31'
run schedule add pay '0 9 15 * *' pay --calendar TARGET2 --closed before
expect "add" 0
run schedule list --json
expect "list" 0 '"calendar":"TARGET2","closed":"before"'
run schedule next pay --count 3
expect "next of it" 0 'T09:00:00.000Z'
run calendar remove TARGET2
expect "one that is used" 2 '' 'schedule pay goes by calendar TARGET2'
run enqueue transfer 1 --by-cut-off TARGET2 --lead 15m
expect "at a cut-off" 0
"$TASKPOOL" list --handler transfer --json >out
due=$(sed -n 's/.*"due_at":\([0-9]*\).*/\1/p' out)
expect_that "a quarter before the hour of the cut-off" is $((${due:-0} % 3600000)) 2700000
run enqueue transfer 1 --lead 15m
expect "a lead alone" 2 '' '--lead goes with --by-cut-off'
run enqueue transfer 1 --by-cut-off TARGET2 --delay 5m
expect "two times" 2 '' 'give cut_off_calendar or a time'
run schedule remove pay
run calendar remove TARGET2
expect "removed" 0

finish
