#!/usr/bin/env -S python3 -B
"""Nothing from a task or a user becomes SQL: a driver is given text at two places only, and what they are given is a
rendered statement of sql/ or a constant of the driver's profile. The renderer gets the statement, the checked prefix and
counts, and no arguments. A new place has to be entered here, by somebody who looked where its text comes from."""
import re

import checklib

# function: (which argument is SQL text, {file: what may stand there})
DOORS = {
    "SQLPrepare": (1, {"src/odbc/stmt.c": {"(SQLCHAR *)sql"}}),
    # The layer for COBOL runs a statement that the application itself wrote, on its behalf.
    "SQLExecDirect": (1, {"src/odbc/stmt.c": {"(SQLCHAR *)sql"}, "src/cobol/execute.c": {"(SQLCHAR *)run->text"}}),
    "tpi_stmt_prepare": (2, {"src/store/execute.c": {"text.data"}, "src/ops/doctor_rows.c": {"question"},
                             # Scripts of sql/common/adopt with the mapping's names and values, checked and quoted by adopt_read.c.
                             "src/ops/adopt.c": {"sql.data"}}),
    "tpi_doctor_ask_prepared": (2, {"src/ops/doctor_rows.c": {"const char *question"}, "src/ops/doctor.h": {"const char *question"},
                                    "src/ops/doctor_servers.c": {"question"}, "src/ops/doctor.c": {"link->driver->prepares"}}),
    "tpi_stmt_direct": (2, {"src/store/store.c": {"sql.data"}, "src/ops/adopt.c": {"sql.data"}, "src/ops/conn.c": {"link->driver->utc"},
                            "src/odbc/link.c": {"*sql", "link->driver->utc"},
                            "src/odbc/tx.c": {"driver->own_tx", "undo", "driver->tx_probe"},
                            "src/odbc/savepoint.c": {"link->driver->savepoint", "link->driver->savepoint_back", "link->driver->savepoint_end"}}),
    "tpi_stmt_tx": (2, {"src/odbc/tx.c": {"link->driver->begin", "link->driver->commit_begin", "sql"}}),
    "tpi_stmt_ask": (2, {"src/ops/conn.c": {"link->driver->max_packet", "link->driver->catch_up"}, "src/ops/doctor.c": {"advice->sql"}, "src/ops/doctor_servers.c": {"question", "defaults"}, "src/ops/claim_check.c": {"question"},
                         "src/odbc/link.c": {"check->sql"},
                         "src/odbc/tx.c": {"driver->own_tx", "driver->tx_probe", "link->driver->autocommit"}}),
    "tpi_render": (1, {"src/store/execute.c": {"store->prefix"}, "src/store/store.c": {"store->prefix"}}),
    "tpi_render_script": (1, {"src/store/store.c": {"store->prefix"},
                              "src/ops/schema.c": {"store->prefix", "env->prefix"}, "src/ops/adopt_render.c": {"prefix"}}),
}
# The files that define them, where their names stand before parameters.
HOMES = {"src/odbc/stmt.c", "src/odbc/stmt.h", "src/store/render.c", "src/store/render.h"}
UNKNOWN = re.compile(r"\bSQL(?:PrepareW|ExecDirectW|NativeSql|Tables|Columns|Procedures|BrowseConnect)W?\b")
PREFIX = re.compile(r"\bprefix\s*=(?!=)\s*([^;,]+)")
PREFIX_FROM = {"env->prefix", "NULL"}


def arguments(text, start):
    """The arguments of the call whose ( is at start."""
    depth, begin, found = 0, start + 1, []
    for at in range(start, len(text)):
        if text[at] in "({[":
            depth += 1
        elif text[at] in ")}]":
            depth -= 1
        if depth == 0 or (depth == 1 and text[at] == ","):
            found.append(" ".join(text[begin:at].split()))
            begin = at + 1
        if depth == 0:
            return found
    return found


def calls(text, name):
    """(line, arguments) of each call; through the choke point the name is an argument itself."""
    for match in re.finditer(rf"\b{name}\s*([(,])", text):
        line = text.count("\n", 0, match.start()) + 1
        if match.group(1) == "(":
            yield line, arguments(text, match.end() - 1)
        else:
            yield line, arguments(text, text.rindex("(", 0, match.start()))[2:]


def check(root):
    problems = []
    for path in checklib.walk(root, ["src"], (".c", ".h")):
        text = checklib.code_only(checklib.read(root, path))
        for name, (place, allowed) in DOORS.items():
            if path in HOMES and not name.startswith("SQL"):
                continue
            for line, given in calls(text, name):
                what = given[place] if place < len(given) else ""
                if what not in allowed.get(path, ()):
                    problems.append(f"{path}:{line}: {name} is given '{what}'; find out where that text comes from, "
                                    "then enter it in tools/checks/sqlsource.py")
        for match in UNKNOWN.finditer(text):
            problems.append(f"{path}:{text.count(chr(10), 0, match.start()) + 1}: {match.group()} gives text to the driver; "
                            "use a statement of sql/")
        if path.startswith("src/store/render.") and re.search(r"tpi_args|store/args\.h", checklib.read(root, path)):
            problems.append(f"{path}:1: the renderer knows arguments; bind them instead")
        for match in PREFIX.finditer(text):
            if match.group(1).strip() not in PREFIX_FROM and path != "src/cli/schema.c":
                problems.append(f"{path}:{text.count(chr(10), 0, match.start()) + 1}: a prefix that was not checked; "
                                "take the environment's")
    return problems


GOOD = {"src/odbc/stmt.c": "f(TPI_ODBC(link, SQLPrepare, stmt->handle, (SQLCHAR *)sql, SQL_NTS));\n",
        "src/store/execute.c": "tpi_stmt_prepare(&store->link, name, text.data, &stmt);\ntpi_render(sql, store->prefix, p, &t);\n"}
CASES = [
    ("good tree", GOOD, None),
    ("a task's text", {"src/ops/a.c": "\ntpi_stmt_direct(link, \"x\", task->params);\n"}, "src/ops/a.c:2: tpi_stmt_direct"),
    ("glued text", {"src/store/execute.c": "tpi_stmt_prepare(&store->link, name, glued.data, &stmt);\n"}, "'glued.data'"),
    ("the driver itself", {"src/ops/a.c": "TPI_ODBC(link, SQLExecDirect, h, (SQLCHAR *)text, SQL_NTS);\n"}, "SQLExecDirect"),
    ("another call of the driver", {"src/odbc/a.c": "SQLTables(h, text);\n"}, "SQLTables"),
    ("a renderer that knows arguments", {"src/store/render.c": '#include "store/args.h"\n'}, "renderer"),
    ("another prefix", {"src/ops/a.c": "conn->store.prefix = task->handler;\n"}, "prefix"),
    ("a prefix of one's own", {"src/store/store.c": "tpi_render(sql, task->handler, p, &t);\n"}, "'task->handler'"),
]

if __name__ == "__main__":
    checklib.main(check, CASES)
