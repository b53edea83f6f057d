#!/usr/bin/env -S python3 -B
"""Files and identifiers are named by the field's words: no private one where River, Oban, PostgreSQL or the JDK have a
word that everybody knows. A word is refused where it is a whole part of a name (old_house, HOUSE, not household).
allow.txt: "words path:name reason" for one that may keep its word. Texts and comments are not looked at."""
import os
import re

import checklib

# The folders and files that are held to it.
CLEAN = ["dialects", "include", "src"]

WORDS = {
    "hands": "session", "house": "maintenance", "chores": "maintenance", "chore": "maintenance",
    "keeper": "lease_renewer", "lookout": "watchdog", "scout": "poller", "flight": "in_flight", "settler": "completer",
    "runner": "executor thread", "seat": "slot", "bell": "stop semaphore", "told": "recorded, notified",
    "hope": "retryable, deadline", "patience": "deadline, timeout", "crew": "processes", "birth": "start",
    "twin": "counterpart", "presence": "worker row", "spent": "exhausted",
}
NAME = re.compile(r"[A-Za-z_]\w*")


def refused(name):
    """The first private word in a name, or None."""
    parts = name.lower().split("_")
    for i, part in enumerate(parts):
        if part in WORDS and not (part == "flight" and i and parts[i - 1] == "in"):
            return part
    return None


def check(root):
    allow, problems = checklib.Allow("words", root), []
    for path in checklib.walk(root, CLEAN, (".c", ".h")):
        words = {os.path.splitext(os.path.basename(path))[0]: 1}
        for line, text in enumerate(checklib.code_only(checklib.read(root, path)).split("\n"), 1):
            for name in NAME.findall(text):
                words.setdefault(name, line)
        for name, line in words.items():
            word = refused(name)
            if word and f"{path}:{name}" not in allow:
                problems.append(f"{path}:{line}: {name} says {word}; the field's word is {WORDS[word]}")
    return problems + allow.stale()


CASES = [
    ("good tree", {"src/odbc/a.c": "/* told by a runner */\nint in_flight, household;\nf(\"a bell\");\n"}, None),
    ("a function", {"src/odbc/a.c": "\nint tpi_house_keep(void) {\n}\n"}, "src/odbc/a.c:2: tpi_house_keep says house"),
    ("an enumerator", {"src/odbc/a.h": "enum { TP_SPENT };\n"}, "TP_SPENT says spent"),
    ("a flight that is not in_flight", {"src/odbc/a.c": "int flight_count;\n"}, "flight_count says flight"),
    ("a file", {"src/odbc/lookout.c": "int a;\n"}, "src/odbc/lookout.c:1: lookout says lookout"),
]

if __name__ == "__main__":
    checklib.main(check, CASES)
