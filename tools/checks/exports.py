#!/usr/bin/env -S python3 -B
"""The shared library shows exactly what exports.txt lists, and that is what the public headers declare with
TP_API: a symbol more is a promise nobody meant, one less breaks programs.
usage: exports.py [--self-test | --root DIR | --library FILE]   (default: build/release/libtaskpool.so)"""
import os
import re
import subprocess
import sys

import checklib

LIST = "tools/checks/exports.txt"
DECLARED = re.compile(r"^TP_API\b[^;{]*?\b(\w+)\s*\(", re.M)
library = ["build/release/libtaskpool.so"]


def declared(root):
    text = "".join(checklib.code_only(checklib.read(root, p)) for p in checklib.walk(root, ["include"], (".h",)))
    return set(DECLARED.findall(text))


def exported(path):
    """Names the library defines; what the linker and the sanitizers add by themselves is left out."""
    lines = subprocess.run(["nm", "-D", "--defined-only", path], capture_output=True, text=True, check=True).stdout
    names = {line.split()[-1].split("@")[0] for line in lines.splitlines()}
    return {n for n in names if not re.match(r"_init$|_fini$|_edata$|_end$|__bss_start$|__(asan|tsan|ubsan|odr_asan)|TASKPOOL_", n)}


def compare(listed, found, path, line, what):
    return ([f"{path}:{line}: {name} is {what} but not in {LIST}; add it, or hide it" for name in found - listed] +
            [f"{LIST}:1: {name} is listed but not {what}" for name in listed - found])


def check(root):
    names = checklib.read(root, LIST).split()
    problems = [] if names == sorted(names) else [f"{LIST}:1: not sorted"]
    problems += compare(set(names), declared(root), "include", 1, "declared with TP_API")
    built = os.path.join(root, library[0])
    if os.path.exists(built):
        problems += compare(set(names), exported(built), library[0], 1, "exported")
    elif os.environ.get("TASKPOOL_TEST_REQUIRE"):
        problems.append(f"{library[0]}:1: there is no library; build it first")
    elif root == checklib.repository():
        print(f"SKIPPED: {library[0]} is not built, only the headers were compared with the list", file=sys.stderr)
    return sorted(problems)


def compiled(root):
    """For the self-test: builds the tree's a.c, then checks."""
    source = os.path.join(root, "a.c")
    if os.path.exists(source):
        os.makedirs(os.path.join(root, "build/release"))
        subprocess.run(["cc", "-shared", "-fPIC", "-o", os.path.join(root, library[0]), source], check=True)
    else:
        os.environ.pop("TASKPOOL_TEST_REQUIRE", None)
    return check(root)


HEADER = {"include/a.h": "TP_API TP_CHECKED int tp_a(int b,\n    int c);\nTP_API const char *tp_b(void);\n"}
SOURCE = {"a.c": "int tp_a(int b) {\n    return b;\n}\nint tp_b(void) {\n    return 1;\n}\n"}
CASES = [
    ("good tree", {**HEADER, **SOURCE, LIST: "tp_a\ntp_b\n"}, None),
    ("not in the list", {**HEADER, LIST: "tp_a\n"}, "tp_b is declared"),
    ("not in the header", {**HEADER, LIST: "tp_a\ntp_b\ntp_c\n"}, "tp_c is listed"),
    ("exported too much", {**HEADER, LIST: "tp_a\ntp_b\n", "a.c": SOURCE["a.c"] + "int leak(void) {\n    return 0;\n}\n"},
     "leak is exported"),
    ("not exported", {**HEADER, LIST: "tp_a\ntp_b\n", "a.c": "int tp_a;\n"}, "tp_b is listed but not exported"),
]

if __name__ == "__main__":
    if len(sys.argv) == 3 and sys.argv[1] == "--library":
        library[0] = sys.argv[2]
        del sys.argv[1:]
    checklib.main(compiled if sys.argv[1:] == ["--self-test"] else check, CASES)
