#!/usr/bin/env -S python3 -B
"""The copybooks of include/cobol are what tools/cobol/copybooks.py writes from include/taskpool.h and src/cobol/blocks.h: status numbers,
enumerations, limits, what lies where. Each CALL of src/cobol/calls.h stands in docs/cobol.md, no other does, and the library has them
all and shows nothing else."""
import importlib.util
import os
import re
import subprocess

import checklib

FOLDER = "include/cobol"
CALLS = "src/cobol/calls.h"
PAGE = "docs/cobol.md"
LIBRARY = "build/release/libtaskpool_cobol.so"


def written(root):
    path = os.path.join(checklib.repository(), "tools/cobol/copybooks.py")
    spec = importlib.util.spec_from_file_location("written_copybooks", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.copybooks(root)


def copybook_problems(root):
    wanted = written(root)
    for path, text in sorted(wanted.items()):
        there = os.path.exists(os.path.join(root, path))
        if not there or checklib.read(root, path) != text:
            yield f"{path}:1: {'differs from' if there else 'is not there for'} the header; run tools/cobol/copybooks.py"
    for path in checklib.walk(root, [FOLDER], ("",)):
        if path not in wanted:
            yield f"{path}:1: nothing writes it; take it out"
    for path, text in sorted(wanted.items()):
        for number, line in enumerate(text.splitlines(), 1):
            if len(line) > 72:
                yield f"{path}:{number}: {len(line)} columns; 72 are read in the fixed format"


def call_problems(root):
    calls = set(re.findall(r"\bint (TP_\w+)\(", checklib.read(root, CALLS)))
    described = set(re.findall(r"^\| `(TP_\w+)`", checklib.read(root, PAGE), re.M))
    yield from (f"{PAGE}:1: {name} has no line in the table of calls" for name in sorted(calls - described))
    yield from (f"{PAGE}:1: {name} is no call of {CALLS}" for name in sorted(described - calls))
    built = os.path.join(root, LIBRARY)
    if os.path.exists(built):
        lines = subprocess.run(["nm", "-D", "--defined-only", built], capture_output=True, text=True, check=True).stdout
        shown = {line.split()[-1].split("@")[0] for line in lines.splitlines()} - {"_init", "_fini"}
        shown = {name for name in shown if not name.startswith("TASKPOOL_")}
        yield from (f"{LIBRARY}:1: {name} is shown by the library or called, but not both" for name in sorted(shown ^ calls))


def check(root):
    return list(copybook_problems(root)) + list(call_problems(root))


REAL = {path: checklib.read(checklib.repository(), path) for path in ("include/taskpool.h", "src/cobol/blocks.h")}
CALL = {CALLS: "TP_API int TP_OPEN(void *area);\n", PAGE: "| `TP_OPEN` | opens |\n"}


def tree(changed=lambda text: text, **other):
    with_header = {**REAL, **CALL, **other, "include/taskpool.h": changed(REAL["include/taskpool.h"])}
    return {**{path: checklib.read(checklib.repository(), path) for path in
               checklib.walk(checklib.repository(), [FOLDER], (".cpy",))}, **with_header}


CASES = [
    ("as they are", tree(), None),
    ("another number", tree(lambda text: text.replace("TP_LOST, -1", "TP_LOST, -12")), "TPAREA.cpy:1: differs"),
    ("a status more", tree(lambda text: text.replace('    X(TP_DB, -10', '    X(TP_NEWS, 9, "news", 0, "a") \\\n    X(TP_DB, -10')),
     "TPAREA.cpy:1: differs"),
    ("another limit", tree(lambda text: text.replace("TP_KEY_MAX            128", "TP_KEY_MAX            144")), "TPNEW.cpy:1: differs"),
    ("a copybook of nobody's", tree(**{FOLDER + "/TPOLD.cpy": ""}), "nothing writes it"),
    ("a call that nothing says", tree(**{PAGE: ""}), "TP_OPEN has no line"),
    ("a call that is gone", tree(**{PAGE: "| `TP_OPEN` |\n| `TP_OPENED` |\n"}), "TP_OPENED is no call"),
]

if __name__ == "__main__":
    checklib.main(check, CASES)
