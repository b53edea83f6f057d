#!/usr/bin/env -S python3 -B
"""C in the documentation is C that is compiled and run: every ```c block of README.md and docs/ stands, line by line, in a
file under tests/ or examples/. Only the indentation may differ."""
import re

import checklib

BLOCK = re.compile(r"^```c\n(.*?)^```$", re.S | re.M)


def bare(text):
    return "\n".join(line.strip() for line in text.strip().splitlines())


def check(root):
    sources = ["\n" + bare(checklib.read(root, path)) + "\n" for path in checklib.walk(root, ["tests", "examples"], (".c", ".h"))]
    problems = []
    for path in ["README.md"] + checklib.walk(root, ["docs"], (".md",)):
        text = checklib.read(root, path)
        for match in BLOCK.finditer(text):
            if not any("\n" + bare(match.group(1)) + "\n" in source for source in sources):
                line = text.count("\n", 0, match.start()) + 1
                problems.append(f"{path}:{line}: this C is nowhere under tests/ or examples/; take it from a file that runs")
    return problems


PAGE = "\n```c\n    a = 1;\n    b(a);\n```\n"
CASES = [
    ("taken from a test", {"README.md": "", "docs/a.md": PAGE, "tests/x/a.c": "void c(void) {\n  a = 1;\n  b(a);\n}\n"}, None),
    ("taken from an example", {"README.md": PAGE, "examples/a.c": "a = 1;\nb(a);\n"}, None),
    ("changed since", {"README.md": "", "docs/a.md": PAGE, "tests/a.c": "a = 2;\nb(a);\n"}, "docs/a.md:2: this C is nowhere"),
]

if __name__ == "__main__":
    checklib.main(check, CASES)
