#!/usr/bin/env -S python3 -B
"""SQL lives under sql/, databases' names in their own files: no SQL text and no database name in C under
src/, the registries apart. Names are looked for in comments too; allow.txt: "path" of a file that may
name databases."""
import re

import checklib

# Where the dialects and the driver profiles are listed.
REGISTRIES = {"src/dialect/registry.c", "src/odbc/registry.c", "src/odbc/profiles.c"}
NAMES = re.compile(r"oracle|mysql|mariadb|postgres|psql|sqlite", re.I)
# Upper case anywhere in a literal, or any case at its beginning: help texts may well say "select ... from".
SHAPES = (r"SELECT\s.*\sFROM\s|SELECT\s+[\d?*]|INSERT\s+INTO\s+\S+\s*(\(|VALUES|SELECT)|UPDATE\s+\S+\s+SET\s|"
          r"DELETE\s+FROM\s|MERGE\s+INTO\s|(CREATE|DROP|ALTER)\s+(\w+\s+)?(TABLE|INDEX|VIEW|SEQUENCE|TRIGGER)\s|"
          r"BEGIN\s+(IMMEDIATE|TRANSACTION)|PRAGMA\s|LOCK\s+TABLE|SET\s+(SESSION|TRANSACTION)\s")
SQL = re.compile(rf"\b(?:{SHAPES})|^\s*(?:COMMIT|ROLLBACK)\s*;?\s*$|^\s*(?i:{SHAPES})", re.S)


def check(root):
    allow, problems = checklib.Allow("sqltext", root), []
    for path in checklib.walk(root, ["src"], (".c", ".h")):
        text = checklib.read(root, path)
        for line, content in checklib.literals(text):
            if SQL.search(content.replace("\\n", "\n")):
                problems.append(f"{path}:{line}: SQL in C: {content[:40]!r}; move it into a file under sql/")
        if path in REGISTRIES:
            continue
        for match in NAMES.finditer(text):
            if path not in allow:
                line = text.count("\n", 0, match.start()) + 1
                problems.append(f"{path}:{line}: names a database ({match.group()}); "
                                "ask a capability or put it into the dialect's or driver's data")
    return problems + allow.stale()


CASES = [
    ("good tree", {"src/dialect/registry.c": 'x = "oracle";\n', "dialects/mysql.c": '"SELECT 1"\n',
                   "src/cli/help.c": 'x = "take tasks; select one from the list, update it, set aside\\n";\n'
                                     '/* SELECT a FROM b in a comment is only talk */\n'}, None),
    ("statement", {"src/ops/a.c": '\nf("SELECT id FROM tp_pending");\n'}, "src/ops/a.c:2: SQL"),
    ("lower case", {"src/ops/a.c": 'f("update tp_pending set state = ?");\n'}, "SQL in C"),
    ("glued", {"src/ops/a.c": 'f("DELETE "\n  "FROM x");\n'}, "src/ops/a.c:1: SQL"),
    ("transaction", {"src/odbc/a.c": 'f("COMMIT");\n'}, "SQL in C"),
    ("pragma", {"src/odbc/a.c": 'f("pragma journal_mode");\n'}, "SQL in C"),
    ("database name", {"src/odbc/a.c": "\n\nint is_MySQL;\n"}, "src/odbc/a.c:3: names"),
]

if __name__ == "__main__":
    checklib.main(check, CASES)
