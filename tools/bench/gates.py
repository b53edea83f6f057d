"""What a task with an order key, behind a gate or in a group costs beside one with none of it, on one database after the other: prints
a table. Knows nothing of how it is measured. Read next: measure/gates.c."""
import collections
import json
import os
import statistics

import shell
from table import TITLES, table

KINDS = {"none": "none", "order_key": "an order key", "gate": "a gate", "group": "a group"}
PARTS = {"enqueue": "put in", "run": "claimed and completed"}
COUNTS = (("statements", 3), ("round_trips", 3), ("odbc_calls", 2))


def measure(entry, build, words):
    """Medians of the rounds after the first, which prepares; and of each round what a task costs beside one with none."""
    lines = shell.run([os.path.join(shell.ROOT, "tests", "support", "on_database.sh"), entry, os.path.join(build, "tools", "measure"),
                       "gates", *words], {}).splitlines()
    taken = collections.defaultdict(list)
    for one in (json.loads(line) for line in lines if line.startswith("{")):
        taken[one["part"], one["kind"]].append(one)
    return {key: rounds[1:] for key, rounds in taken.items()}


def rows_of(entry, taken):
    for (part, kind), rounds in taken.items():
        beside = [one["us"] / none["us"] for one, none in zip(rounds, taken[part, "none"])]
        counts = [f"{statistics.median(one[name] for one in rounds):.{digits}f}" for name, digits in COUNTS]
        yield [TITLES.get(entry, entry), PARTS[part], KINDS[kind], f"{statistics.median(one['us'] for one in rounds):.0f}",
               f"{statistics.median(beside):.2f}", *counts]


def take(entries, build, words):
    rows = [row for entry in entries for row in sorted(rows_of(entry, measure(entry, build, words)), key=lambda row: row[1], reverse=True)]
    print(table(["database", "what", "with", "µs", "beside none", "statements", "round trips", "ODBC calls"], rows, 3))
