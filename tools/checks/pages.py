#!/usr/bin/env -S python3 -B
"""Pages can be read and followed: lines of prose within 120 characters (tables and indented commands may be longer); each link to a
file or a heading of the repository leads somewhere, and each file that is named by its path is there (a word in capitals in it stands
for a name). allow.txt: the path of a page whose lines may be longer."""
import os
import re

import checklib

LONGEST = 120
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
NAMED = re.compile(r"`((?:dialects|docs|examples|include|sql|src|tests|tools)/[\w./-]+\.\w+)`")
ANY_NAME = re.compile(r"[A-Z]{4,}")


def anchors(text):
    """The headings, as they are named in links."""
    found = set()
    for heading in re.findall(r"^#+ (.*)$", text, re.M):
        name = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        found.add(name)
    return found


def links(root, path, text):
    for match in LINK.finditer(re.sub(r"`[^`\n]*`", lambda code: " " * len(code.group()), text)):
        target, _, heading = match.group(1).partition("#")
        line = text.count("\n", 0, match.start()) + 1
        full = os.path.normpath(os.path.join(root, os.path.dirname(path), target)) if target else os.path.join(root, path)
        if ":" in target:
            continue
        if not os.path.exists(full):
            yield f"{path}:{line}: {target} is not there; correct the link"
        elif heading and full.endswith(".md") and heading not in anchors(checklib.read(root, os.path.relpath(full, root))):
            yield f"{path}:{line}: {match.group(1)} names no heading there; correct the link"


def named_files(root, path, text):
    """Programs of the tests are also named by their path below tests."""
    for match in NAMED.finditer(text):
        name = match.group(1)
        there = any(os.path.exists(os.path.join(root, folder, name)) for folder in ("", "tests"))
        if not there and not ANY_NAME.search(name):
            line = text.count("\n", 0, match.start()) + 1
            yield f"{path}:{line}: {name} is not there; name the file that is"


def long_lines(path, text):
    fenced = False
    for number, line in enumerate(text.splitlines(), 1):
        fenced ^= line.startswith("```")
        if len(line) > LONGEST and not fenced and not line.startswith(("|", "    ")):
            yield f"{path}:{number}: {len(line)} characters; break the line at {LONGEST}"


def check(root):
    allow, problems = checklib.Allow("pages", root), []
    for path in checklib.tracked(root):
        if not path.endswith(".md"):
            continue
        text = checklib.read(root, path)
        problems += links(root, path, text)
        problems += named_files(root, path, text)
        long = list(long_lines(path, text))
        if long and path not in allow:
            problems += long
    return problems + allow.stale()


CASES = [
    ("good page", {"a.md": "# One `word`, two\n\nSee [b](b/c.md#x-y), [here](#one-word-two).\n\n| " + "x" * 130 + " |\n",
                   "b/c.md": "## X: y\n"}, None),
    ("a long line", {"a.md": "x " * 61 + "\n"}, "a.md:1: 122 characters"),
    ("a page that is gone", {"a.md": "\n[b](b.md)\n"}, "a.md:2: b.md is not there"),
    ("files that are named", {"a.md": "`src/a.c`, `src/NAME.c`, `src/ops`, `src/*.c`\n", "src/a.c": "int a;\n"}, None),
    ("a named file that is gone", {"a.md": "\n`src/b.c`\n"}, "a.md:2: src/b.c is not there"),
    ("a heading that is gone", {"a.md": "[b](b.md#c)\n", "b.md": "# d\n"}, "names no heading"),
]

if __name__ == "__main__":
    checklib.main(check, CASES)
