#!/usr/bin/env -S python3 -B
"""Names say where a thing belongs: tp_ is public and declared in include/, tpi_ internal with outside
linkage, statics carry neither; types are lower case without _t; an SQL file is lower_snake, as the statement.
The programs, what they share and the layer for COBOL, whose calls begin with TP_, may call their functions what they like, apart from tp_."""
import os
import re

import checklib

TYPEDEF = re.compile(r"^typedef\b[^;{]*?(\w+)(?:\s*\)\s*\([^;]*)?\s*;|^\}\s*(\w+);", re.M)
TAG = re.compile(r"\b(?:struct|union|enum)\s+(\w+)\s*(?=[{;])")
SQL_FILE = re.compile(r"(\d{4}_)?[a-z0-9]+(_[a-z0-9]+)*\.sql")


def declared_in_headers(root):
    text = "".join(checklib.code_only(checklib.read(root, p)) for p in checklib.walk(root, ["include"], (".h",)))
    return set(re.findall(r"\b(\w+)\s*\(", text))


def function_problem(path, function, public):
    name = function.name
    if function.static:
        if re.match(r"tpi?_", name):
            return f"static {name}: drop the prefix, it is for names seen outside the file"
    elif name in public:
        if not name.startswith("tp_"):
            return f"public {name}: begin it with tp_"
    elif path.startswith("src/cobol/") and re.match("TP_", name):
        return None  # a CALL
    elif path.startswith(("src/bench/", "src/cli/", "src/cobol/", "src/common/", "src/console/")):
        if name.startswith("tp_"):
            return f"{name} is not in include/: tp_ is for the public functions"
    elif not re.fullmatch(r"tpi_[a-z0-9]+(_[a-z0-9]+)*", name):
        return f"{name} is seen outside its file: make it static or name it tpi_module_verb"
    return None


def type_problems(path, text):
    code = checklib.code_only(text)
    for pattern in (TYPEDEF, TAG):
        for match in pattern.finditer(code):
            name = next(g for g in match.groups() if g)
            line = code.count("\n", 0, match.start()) + 1
            if not re.fullmatch(r"[a-z][a-z0-9_]*", name):
                yield f"{path}:{line}: type {name}: write it in lower case"
            elif name.endswith("_t"):
                yield f"{path}:{line}: type {name}: drop the _t, POSIX keeps it for itself"


def check(root):
    problems, public = [], declared_in_headers(root)
    for path in checklib.walk(root, ["src", "include", "dialects"], (".c", ".h")):
        text = checklib.read(root, path)
        for function in checklib.functions(text):
            problem = function_problem(path, function, public)
            if problem:
                problems.append(f"{path}:{function.first}: {problem}")
        problems += type_problems(path, text)
    for name in sorted(public):
        if re.match(r"tpi_", name):
            problems.append(f"include:1: {name} is internal; keep it out of the public headers")
    for path in checklib.walk(root, ["sql"], (".sql",)):
        if not SQL_FILE.fullmatch(os.path.basename(path)):
            problems.append(f"{path}:1: name it in lower_snake, as the statement")
    return problems


HEADER = {"include/taskpool.h": "typedef struct tp_env tp_env;\nint tp_open(tp_env *env);\n"}
CASES = [
    ("lists are no functions", {"include/a.h": "#define TP_LIST(X) \\\n    X(A) \\\n    X(B)\ntypedef enum tp_e {\n"
                                               "#define ONE(id) id,\n    TP_LIST(ONE)\n} tp_e;\n"}, None),
    ("good tree", {**HEADER, "src/ops/a.c": "int tp_open(tp_env *env) {\n}\n\nint tpi_a_b(void) {\n}\n\n"
                   "static size_t plain(uint64_t a) {\n}\n\ntypedef void (*see_fn)(int a);\n",
                   "src/cli/a.c": "int main(void) {\n}\n", "sql/oracle/schema/0001_tables.sql": ""}, None),
    ("static with a prefix", {"src/a.c": "static int tpi_x(void) {\n}\n"}, "src/a.c:1: static tpi_x"),
    ("outside without a prefix", {"src/a.c": "int helper(void) {\n}\n"}, "helper is seen outside"),
    ("public but not declared", {**HEADER, "src/a.c": "int tp_other(void) {\n}\n"}, "tp_other is seen"),
    ("type with _t", {"src/a.h": "\ntypedef struct x {\n    int a;\n} x_t;\n"}, "type x_t"),
    ("tag with capitals", {"src/a.h": "struct TaskList {\n};\n"}, "type TaskList"),
    ("function type with _t", {"src/a.h": "typedef int (*run_t)(int a);\n"}, "type run_t"),
    ("file name", {"sql/oracle/ClaimRow.sql": ""}, "ClaimRow.sql:1"),
]

if __name__ == "__main__":
    checklib.main(check, CASES)
