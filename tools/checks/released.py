#!/usr/bin/env -S python3 -B
"""Schema scripts that a release has run stay as they were, byte by byte: pools made by them are out there, and what is missing in
these only a later script can bring. So does the header that abi.py keeps. released.txt lists them as sha256sum does; a release adds its
new scripts."""
import hashlib
import os

import checklib

LIST = "tools/checks/released.txt"


def check(root):
    problems = []
    for number, line in enumerate(checklib.read(root, LIST).splitlines(), 1):
        wanted, path = line.split()
        if not os.path.exists(os.path.join(root, path)):
            problems.append(f"{LIST}:{number}: {path} is gone; pools were made by it")
            continue
        with open(os.path.join(root, path), "rb") as file:
            if hashlib.sha256(file.read()).hexdigest() != wanted:
                problems.append(f"{path}:1: was released and has changed; put it back, and say what is new in a later script")
    return problems


SUM = "2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae"  # of "foo"
CASES = [
    ("as it was", {LIST: f"{SUM}  sql/a.sql\n", "sql/a.sql": "foo"}, None),
    ("changed", {LIST: f"{SUM}  sql/a.sql\n", "sql/a.sql": "foo "}, "sql/a.sql:1: was released"),
    ("gone", {LIST: f"{SUM}  sql/a.sql\n"}, "sql/a.sql is gone"),
]

if __name__ == "__main__":
    checklib.main(check, CASES)
