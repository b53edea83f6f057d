#!/usr/bin/env -S python3 -B
"""Compares open days with an implementation of somebody else, day by day: calendar_days.py NAME FIRST_YEAR LAST_YEAR, of the
calendars of examples/calendars. Standard input: what taskpool schedule next printed for each open day at noon."""
import datetime
import sys

try:
    from workalendar.europe import EuropeanCentralBank, Germany
except ImportError:
    sys.exit(77)


def main():
    calendar = {"TARGET2": EuropeanCentralBank, "germany": Germany}[sys.argv[1]]()
    day, last = datetime.date(int(sys.argv[2]), 1, 1), datetime.date(int(sys.argv[3]), 12, 31)
    open_days = {line.split()[1][:10] for line in sys.stdin}
    wrong, days = [], 0
    while day <= last:
        if calendar.is_working_day(day) != (day.isoformat() in open_days):
            wrong.append(day.isoformat())
        day += datetime.timedelta(days=1)
        days += 1
    print(f"{days} days, {len(open_days)} open, {len(wrong)} differ", *wrong[:5])
    return 1 if wrong else 0


sys.exit(main())
