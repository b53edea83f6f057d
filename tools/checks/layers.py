#!/usr/bin/env -S python3 -B
"""Includes point only downward: each layer includes the layers that docs/architecture/layers.txt names, all of them, and no other;
itself; and the system headers of the C library plus those named here. Only the ODBC layer sees ODBC's headers."""
import os
import re

import checklib

LIBC = set("""assert ctype errno float inttypes limits locale math setjmp signal stdalign stdarg stdatomic stdbool
stddef stdint stdio stdlib stdnoreturn string time fcntl poll pthread sched semaphore spawn strings unistd sys/file
sys/ioctl sys/random sys/resource sys/select sys/stat sys/time sys/types sys/uio sys/wait termios""".split())
PURE = {"assert", "ctype", "inttypes", "limits", "stdarg", "stdbool", "stddef", "stdint", "stdio", "stdlib",
        "string", "strings"}

PROGRAMS = {"json-c", "unistr"}

# What a layer may include of the others is in docs/architecture/layers.txt, which is drawn too. Here, the first that matches:
# further headers of include/, and system headers.
RULES = [
    ("dialects", [], set(), PURE),
    ("src/common", [], PROGRAMS | {"popt", "pwd", "uniwidth", "sys/prctl"}, LIBC),
    ("src/cli/terminal.c", [], PROGRAMS | {"curses", "uniwidth"}, LIBC),
    ("src/cli/calendar_ics.c", [], PROGRAMS | {"libical"}, LIBC),
    ("src/cli", [], PROGRAMS | {"sys/prctl", "sys/socket", "sys/un", "dirent"}, LIBC),
    ("src/console/http.c", [], PROGRAMS | {"microhttpd"}, LIBC),
    ("src/console/headers.c", [], {"microhttpd", "netdb", "sys/socket"}, LIBC),
    ("src/console/events.h", [], {"microhttpd"}, LIBC),
    ("src/console/headers.h", [], {"microhttpd"}, LIBC),
    ("src/console/main.c", [], {"netdb", "netinet/in", "sys/socket"}, LIBC),
    ("src/console/tls.c", [], {"gnutls"}, LIBC),
    ("src/console/mask.c", [], PROGRAMS | {"unicase", "uninorm"}, LIBC),
    ("src/console", [], PROGRAMS | {"crypt"}, LIBC),
    ("src/bench", [], PROGRAMS | {"sys/mman"}, LIBC),
    ("src/cobol/execute.c", ["taskpool_odbc.h"], {"sqlext"}, LIBC),  # statements of the application's own
    ("src/cobol", ["taskpool_odbc.h"], set(), LIBC),
    ("src/worker", ["taskpool_odbc.h"], set(), LIBC),
    ("src/ops/borrow.c", ["taskpool_odbc.h"], set(), LIBC),
    ("src/ops", [], set(), LIBC),
    ("src/store", [], set(), LIBC),
    ("src/dialect", [], set(), PURE),
    ("src/odbc", ["taskpool_odbc.h"], {"sql", "sqlext", "sqltypes", "sqlucode", "odbcinst"}, LIBC),
    ("src/core", [], set(), PURE),
    ("src/base/zone.c", [], {"glib"}, LIBC),
    ("src/base/sha256.c", [], {"glib"}, LIBC),
    ("src/base", [], {"uuid"}, LIBC),
    ("include/taskpool.h", [], set(), {"stddef", "stdint"}),
    ("include/taskpool_odbc.h", ["taskpool.h"], {"sql"}, set()),
]
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.M)


def first_fit(path, folders):
    return next((folder for folder in folders if path == folder or path.startswith(folder + "/")), None)


def layer_of_include(path, name, layers, folder):
    """The entry of the folder's list that lets the file include the name; "" when it is of the same folder; None: nothing does."""
    top = name.split("/")[0]
    if name == "taskpool.h":
        return "include" if "include" in layers[folder] else None
    if "/" in name and top == folder.rsplit("/", 1)[-1]:
        return ""
    return next((entry for entry in layers[folder] if entry in (top, name)), None)


def system_include_ok(name, rule):
    return bool({name.removesuffix(".h"), name.split("/")[0]} & (rule[2] | rule[3]))


def own_include(root, path, name, layers, folder, rule):
    """As layer_of_include; what stands beside the file, and what its rule adds, is fine too."""
    beside = "/" not in name and os.path.exists(os.path.join(root, os.path.dirname(path), name))
    if name in rule[1] or (beside and not path.startswith("include/")):
        return ""
    return layer_of_include(path, name, layers, folder)


def check(root):
    text = root if os.path.exists(os.path.join(root, checklib.LAYERS)) else checklib.repository()
    layers = {layer.folder: layer.includes for layer in checklib.layers(text)}
    rules, unused, problems = {rule[0]: rule for rule in RULES}, set(), []
    if text == root:
        unused = {(folder, entry) for folder, entries in layers.items() for entry in entries}
    for path in checklib.walk(root, ["src", "include", "dialects"], (".c", ".h")):
        rule, folder = rules.get(first_fit(path, rules)), first_fit(path, layers)
        for match in INCLUDE.finditer(checklib.read(root, path)):
            line = checklib.read(root, path).count("\n", 0, match.start(2)) + 1
            kind, name = match.groups()
            if rule is None or folder is None:
                problems.append(f"{path}:{line}: folder of no layer; enter it in {checklib.LAYERS} and in layers.py")
            elif kind == "<" and not system_include_ok(name, rule):
                problems.append(f"{path}:{line}: <{name}> is not for {rule[0]}; use what a lower layer offers")
            elif kind == '"':
                entry = own_include(root, path, name, layers, folder, rule)
                unused.discard((folder, entry))
                if entry is None:
                    may = ", ".join(layers[folder] + rule[1]) or "nothing"
                    problems.append(f'{path}:{line}: "{name}" is not below {folder}, which may include {may}')
    return problems + [f"{checklib.LAYERS}:1: no file of {folder} includes {entry} any more; take it out, and run tools/draw.py"
                       for folder, entry in sorted(unused)]


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
    ("a list that says more than the code", {"src/store/a.c": '#include "odbc/link.h"\n',
                                             "docs/architecture/layers.txt": "src/store | runs | odbc base\n"},
     "no file of src/store includes base"),
    ("public header", {"include/taskpool.h": "#include <stdbool.h>\n"}, "<stdbool.h>"),
]

if __name__ == "__main__":
    checklib.main(check, CASES)
