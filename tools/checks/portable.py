#!/usr/bin/env -S python3 -B
"""The shared library calls no function of the system that docs/portability.md does not list: one more is a system
more on which it cannot be built.
usage: portable.py [--self-test | --root DIR | --library FILE]   (default: build/release/libtaskpool.so)"""
import os
import re
import subprocess
import sys

import checklib

PAGE = "docs/portability.md"
ROW = re.compile(r"^\|[^|`]*\|((?: *`\w+`)+) *\|$", re.M)
# What compilers and C libraries make of the functions that the sources name.
INSIDE = {"__errno_location": "errno", "__ctype_b_loc": "isalnum", "__ctype_tolower_loc": "tolower", "__ctype_toupper_loc": "toupper",
          "__register_atfork": "pthread_atfork"}
OWN = re.compile(r"_ITM_|__gmon_start__$|__cxa_finalize$|__tls_get_addr$|__stack_chk_fail$|__(asan|tsan|ubsan)")
library = ["build/release/libtaskpool.so"]


def called(path):
    lines = subprocess.run(["nm", "-D", "--undefined-only", path], capture_output=True, text=True, check=True).stdout
    names = {line.split()[-1].split("@")[0] for line in lines.splitlines()}
    names = {INSIDE.get(n, n) for n in names if not OWN.match(n)}
    return {re.sub(r"^__(?:isoc\d+_)?(\w+?)(?:_chk)?$", r"\1", n) for n in names}


def check(root):
    listed = set(re.findall(r"`(\w+)`", " ".join(ROW.findall(checklib.read(root, PAGE)))))
    built = os.path.join(root, library[0])
    if os.path.exists(built):
        return [f"{library[0]}:1: {name} is not in {PAGE}; do without, or list it with what another system does"
                for name in sorted(called(built) - listed)]
    if os.environ.get("TASKPOOL_TEST_REQUIRE"):
        return [f"{library[0]}:1: there is no library; build it first"]
    if root == checklib.repository():
        print(f"SKIPPED: {library[0]} is not built, nothing was compared", file=sys.stderr)
    return []


def compiled(root):
    """For the self-test: builds the tree's a.c, then checks."""
    os.makedirs(os.path.join(root, "build/release"))
    subprocess.run(["cc", "-shared", "-fPIC", "-o", os.path.join(root, library[0]), os.path.join(root, "a.c")], check=True)
    return check(root)


PAGE_TEXT = {PAGE: "| from | functions |\n|---|---|\n| C11 | `free` `getenv` |\n| text | `getpid` is no function here |\n"}
SOURCE = "int getpid(void);\nchar *getenv(const char *);\nvoid tp_a(void) {\n    %s;\n}\n"
CASES = [("what is listed", {**PAGE_TEXT, "a.c": SOURCE % "getenv(\"A\")"}, None),
         ("what is not", {**PAGE_TEXT, "a.c": SOURCE % "getpid()"}, "getpid is not in")]

if __name__ == "__main__":
    if "--library" in sys.argv:
        at = sys.argv.index("--library")
        library[0] = os.path.abspath(sys.argv[at + 1])
        del sys.argv[at:at + 2]
    checklib.main(compiled if "--self-test" in sys.argv else check, CASES)
