#!/usr/bin/env -S python3 -B
"""tests/abi/0.2.0/taskpool.h is the header of version 0.2.0, and its program runs in the suite for ever. Until then it is a copy of
today's (comments may differ), from then on it stays as it is, listed in released.txt."""
import re

import checklib

KEPT, NOW, LIST = "tests/abi/0.2.0/taskpool.h", "include/taskpool.h", "tools/checks/released.txt"
VERSION = re.compile(r"^#define TP_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)$", re.M)


def words(text):
    """What a compiler sees, without the version and without layout."""
    text = re.sub(r'^#define TP_VERSION.*$', "", text, flags=re.M)
    return " ".join(re.sub(r"/\*.*?\*/", " ", text, flags=re.S).replace("\\\n", " ").split())


def check(root):
    now = checklib.read(root, NOW)
    if [int(n) for n in VERSION.findall(now)] >= [0, 2, 0]:
        listed = any(line.split()[1] == KEPT for line in checklib.read(root, LIST).splitlines())
        return [] if listed else [f"{LIST}:1: version 0.2.0 is out; add {KEPT} (sha256sum), which no longer changes"]
    if words(now) == words(checklib.read(root, KEPT)):
        return []
    return [f"{KEPT}:1: {NOW} has changed, and until 0.2.0 this is its copy: cp {NOW} {KEPT}"]


def version(minor):
    return f"#define TP_VERSION_MAJOR 0\n#define TP_VERSION_MINOR {minor}\n#define TP_VERSION_PATCH 0\n"


CASES = [
    ("the same", {NOW: version(1) + "int a; /* one */\n", KEPT: version(1) + "int  a;\n", LIST: ""}, None),
    ("changed before 0.2.0", {NOW: version(1) + "int b;\n", KEPT: version(1) + "int a;\n", LIST: ""}, "cp include/taskpool.h"),
    ("changed after it", {NOW: version(3) + "int b;\n", KEPT: version(1) + "int a;\n", LIST: f"0  {KEPT}\n"}, None),
    ("not listed", {NOW: version(2) + "int a;\n", KEPT: version(1) + "int a;\n", LIST: ""}, "version 0.2.0 is out"),
]

if __name__ == "__main__":
    checklib.main(check, CASES)
