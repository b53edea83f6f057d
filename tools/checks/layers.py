#!/usr/bin/env -S python3 -B
"""Includes point only downward (docs: the layout): each layer may include the layers named here, itself,
and the system headers of the C library plus those named here. Only the ODBC layer sees ODBC's headers."""
import os
import re

import checklib

LIBC = set("""assert ctype errno float inttypes limits locale math setjmp signal stdalign stdarg stdatomic stdbool
stddef stdint stdio stdlib stdnoreturn string time fcntl poll pthread sched semaphore spawn strings unistd sys/file
sys/ioctl sys/random sys/resource sys/select sys/stat sys/time sys/types sys/uio sys/wait termios""".split())
PURE = {"assert", "ctype", "inttypes", "limits", "stdarg", "stdbool", "stddef", "stdint", "stdio", "stdlib",
        "string", "strings"}

PROGRAMS = {"json-c", "unistr"}

# The first folder that matches decides: layers it may include, headers of include/, further system headers.
# A layer ending in .h is that header only.
RULES = [
    ("dialects/drivers", ["odbc/driver.h"], ["taskpool.h"], set(), PURE),
    ("dialects", ["dialect"], ["taskpool.h"], set(), PURE),
    ("src/common", ["common"], ["taskpool.h"], PROGRAMS | {"popt", "pwd", "uniwidth", "sys/prctl"}, LIBC),
    ("src/cli", ["cli", "common"], ["taskpool.h"], PROGRAMS | {"sys/prctl", "dirent"}, LIBC),
    ("src/bench", ["bench", "common"], ["taskpool.h"], PROGRAMS | {"sys/mman"}, LIBC),
    ("src/worker", ["worker", "core", "base", "ops/for_workers.h"], ["taskpool.h", "taskpool_odbc.h"], set(), LIBC),
    ("src/ops/borrow.c", ["ops", "store", "core", "dialect", "base"], ["taskpool.h", "taskpool_odbc.h"],
     set(), LIBC),
    ("src/ops", ["ops", "store", "core", "dialect", "base"], ["taskpool.h"], set(), LIBC),
    ("src/store", ["store", "odbc", "dialect", "base", "core"], ["taskpool.h"], set(), LIBC),
    ("src/dialect", ["dialect"], ["taskpool.h"], set(), PURE),
    ("src/odbc", ["odbc", "base"], ["taskpool.h", "taskpool_odbc.h"],
     {"sql", "sqlext", "sqltypes", "sqlucode", "odbcinst"}, LIBC),
    ("src/core", ["core"], ["taskpool.h"], set(), PURE),
    ("src/base/zone.c", ["base"], ["taskpool.h"], {"glib"}, LIBC),
    ("src/base", ["base"], ["taskpool.h"], {"uuid"}, LIBC),
    ("include/taskpool.h", [], [], set(), {"stddef", "stdint"}),
    ("include/taskpool_odbc.h", [], ["taskpool.h"], {"sql"}, set()),
]
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.M)


def rule_of(path):
    for rule in RULES:
        if path == rule[0] or path.startswith(rule[0] + "/"):
            return rule
    return None


def own_include_ok(root, path, name, rule):
    if "/" not in name:
        beside = os.path.join(root, os.path.dirname(path), name)
        return name in rule[2] or (not path.startswith("include/") and os.path.exists(beside))
    return name in rule[1] or name.split("/")[0] in rule[1]


def check(root):
    problems = []
    for path in checklib.walk(root, ["src", "include", "dialects"], (".c", ".h")):
        rule, text = rule_of(path), checklib.read(root, path)
        for match in INCLUDE.finditer(text):
            line = text.count("\n", 0, match.start(2)) + 1
            kind, name = match.groups()
            if rule is None:
                problems.append(f"{path}:{line}: folder of no layer; put the file into one, see layers.py")
            elif kind == "<" and not {name.removesuffix(".h"), name.split("/")[0]} & (rule[3] | rule[4]):
                problems.append(f"{path}:{line}: <{name}> is not for {rule[0]}; use what a lower layer offers")
            elif kind == '"' and not own_include_ok(root, path, name, rule):
                may = ", ".join(rule[1] + rule[2]) or "nothing"
                problems.append(f'{path}:{line}: "{name}" is not below {rule[0]}, which may include {may}')
    return problems


CASES = [
    ("good tree", {"src/ops/claim.c": '#include "store/store.h"\n#include <string.h>\n',
                   "src/cli/csv.c": '#include "csv.h"\n#include <json-c/json_types.h>\n', "src/cli/csv.h": "",
                   "src/odbc/link.h": "#include <sql.h>\n", "src/base/uuid.c": "#include <uuid/uuid.h>\n",
                   "dialects/drivers/x.c": '#include "odbc/driver.h"\n'}, None),
    ("upward include", {"src/base/buf.c": '\n#include "store/store.h"\n'}, "src/base/buf.c:2:"),
    ("ODBC outside its layer", {"src/store/a.c": "#include <sqlext.h>\n"}, "<sqlext.h>"),
    ("program looks inside", {"src/cli/main.c": '#include "ops/claim.h"\n'}, '"ops/claim.h"'),
    ("a program looks into another", {"src/bench/bench.c": '#include "cli/cli.h"\n'}, '"cli/cli.h"'),
    ("shared by programs, knows one", {"src/common/a.c": '#include "cli/cli.h"\n'}, '"cli/cli.h"'),
    ("missing beside", {"src/cli/a.c": '#include "b.h"\n', "src/base/b.h": ""}, '"b.h"'),
    ("driver file sees the link", {"dialects/drivers/x.c": '#include "odbc/link.h"\n'}, '"odbc/link.h"'),
    ("database library in the core", {"src/core/fsm.c": "#include <pthread.h>\n"}, "<pthread.h>"),
    ("no layer", {"src/misc/a.c": "#include <stdio.h>\n"}, "no layer"),
    ("public header", {"include/taskpool.h": "#include <stdbool.h>\n"}, "<stdbool.h>"),
]

if __name__ == "__main__":
    checklib.main(check, CASES)
