#!/usr/bin/env -S python3 -B
"""Every promise in docs/guarantees-matrix.md names the test that shows it: each row of its tables names at least one, and each
named test is defined under tests/ or tools/."""
import re

import checklib

DOC = "docs/guarantees-matrix.md"
TEST = re.compile(r"`(test_\w+|(?!tools/)[\w/]+\.(?:sh|c|cpp|py|mjs))`")


def definitions(root):
    found = set()
    for path in checklib.walk(root, ["tests", "tools"], (".c", ".cpp", ".sh", ".py", ".mjs")):
        found.add(path.split("/", 1)[1])
        found |= set(re.findall(r"\b(test_\w+)\s*[(),]", checklib.read(root, path)))
    return found


def check(root):
    problems, known = [], definitions(root)
    promises = False
    for number, line in enumerate(checklib.read(root, DOC).splitlines(), 1):
        promises = line.startswith("| promise") or (promises and line.startswith("|"))
        named = TEST.findall(line)
        if promises and not line.startswith(("| promise", "|---")) and not named:
            problems.append(f"{DOC}:{number}: no test named; name the one that would fail if the promise broke")
        problems += [f"{DOC}:{number}: {name} is not defined under tests/ or tools/" for name in named if name not in known]
    return problems


TABLE = "| promise | what could break it | shown by |\n|---|---|---|\n"
CASES = [
    ("good page", {DOC: TABLE + "| a | b | `test_a__b` |\n\n| x | y |\n", "tests/c/a.c": "static void test_a__b(void **s) {\n}\n"},
     None),
    ("a promise without a test", {DOC: TABLE + "| a | b | trust us |\n"}, "no test named"),
    ("a test that is gone", {DOC: TABLE + "| a | b | `test_gone` |\n"}, "test_gone is not defined"),
]

if __name__ == "__main__":
    checklib.main(check, CASES)
