#!/usr/bin/env python3
"""Writes the calendars of this folder: make.py FIRST_YEAR LAST_YEAR. target2.csv: the days on which TARGET2 and T2 are closed;
germany.ics: the holidays of all of Germany."""
import datetime
import os
import sys

DAY = datetime.timedelta(days=1)


def easter(year):
    """Easter Sunday, by the rule of Meeus, Jones and Butcher."""
    a, b, c = year % 19, year // 100, year % 100
    d, e = divmod(b, 4)
    f = (b + 8) // 25
    g = (b - f + 1) // 3
    h = (19 * a + b - d - g + 15) % 30
    i, k = divmod(c, 4)
    m = (32 + 2 * e + 2 * i - h - k) % 7
    n = (a + 11 * h + 22 * m) // 451
    month, day = divmod(h + m - 7 * n + 114, 31)
    return datetime.date(year, month, day + 1)


def target2(year):
    sunday = easter(year)
    return [(datetime.date(year, 1, 1), "New Year's Day"), (sunday - 2 * DAY, "Good Friday"), (sunday + DAY, "Easter Monday"),
            (datetime.date(year, 5, 1), "Labour Day"), (datetime.date(year, 12, 25), "Christmas Day"),
            (datetime.date(year, 12, 26), "Christmas Holiday")]


FIXED = [(1, 1, "Neujahr"), (5, 1, "Tag der Arbeit"), (10, 3, "Tag der Deutschen Einheit"), (12, 25, "1. Weihnachtstag"),
         (12, 26, "2. Weihnachtstag")]
MOVABLE = [(-2, "Karfreitag"), (1, "Ostermontag"), (39, "Christi Himmelfahrt"), (50, "Pfingstmontag")]


def event(number, date, name, rule=""):
    lines = ["BEGIN:VEVENT", f"UID:{number}@germany.example", "DTSTAMP:20250101T000000Z", f"DTSTART;VALUE=DATE:{date:%Y%m%d}",
             f"DTEND;VALUE=DATE:{date + DAY:%Y%m%d}", f"SUMMARY:{name}"]
    return lines + ([rule] if rule else []) + ["END:VEVENT"]


def germany(first, last):
    lines = ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//taskpool//examples/calendars//EN"]
    for number, (month, day, name) in enumerate(FIXED):
        lines += event(number, datetime.date(first, month, day), name, "RRULE:FREQ=YEARLY")
    for year in range(first, last + 1):
        for number, (days, name) in enumerate(MOVABLE):
            lines += event(f"{year}-{number}", easter(year) + days * DAY, name)
    return lines + ["END:VCALENDAR"]


def main():
    first, last = int(sys.argv[1]), int(sys.argv[2])
    folder = os.path.dirname(os.path.abspath(__file__))
    with open(os.path.join(folder, "target2.csv"), "w", encoding="utf-8") as file:
        file.write("date,kind,name\n")
        for year in range(first, last + 1):
            file.writelines(f"{date},closed,{name}\n" for date, name in target2(year))
    with open(os.path.join(folder, "germany.ics"), "w", encoding="utf-8", newline="") as file:
        file.write("\r\n".join(germany(first, last)) + "\r\n")


main()
