#!/usr/bin/env -S python3 -B
"""Each function of the public headers can be called from COBOL (src/cobol), C++ (include/taskpool.hpp) and Python
(examples/python/taskpool.py), or tools/checks/bindings.txt says why not. So the next one is not forgotten there."""
import os
import re

import checklib

TABLE = "tools/checks/bindings.txt"
DECLARED = re.compile(r"^TP_API\b[^;{]*?\b(tp_\w+)\s*\(", re.M)
LANGUAGES = ("cobol", "cpp", "python")


def words(text):
    return set(re.findall(r"\btp_\w+", text))


def called(root):
    """{language: the names that its binding uses}"""
    cobol = "".join(checklib.code_only(checklib.read(root, path)) for path in checklib.walk(root, ["src/cobol"], (".c", ".h")))
    python = "examples/python/taskpool.py"
    signatures = re.search(r"^SIGNATURES = \{(.*?)\}\n", checklib.read(root, python), re.S | re.M)
    return {"cobol": words(cobol), "cpp": words(checklib.code_only(checklib.read(root, "include/taskpool.hpp"))),
            "python": words(signatures.group(1) if signatures else "")}


def rows(root):
    """(line, languages, functions, why) of each row of the table."""
    for number, line in enumerate(checklib.read(root, TABLE).splitlines(), 1):
        if line.strip() and not line.startswith("#"):
            parts = [part.strip() for part in line.split("|")]
            yield (number, parts[0].split(), parts[1].split(), parts[2]) if len(parts) == 3 else (number, [], [], "")


def row_problems(number, languages, functions, why, exported):
    if not languages or not functions or not why or set(languages) - set(LANGUAGES):
        yield f"{TABLE}:{number}: a row is LANGUAGES | functions | why"
    yield from (f"{TABLE}:{number}: {name} is no function of the headers" for name in functions if name not in exported)


def check(root):
    headers = "".join(checklib.code_only(checklib.read(root, path)) for path in checklib.walk(root, ["include"], (".h",)))
    exported, used, left_out, problems = set(DECLARED.findall(headers)), called(root), {}, []
    for number, languages, functions, why in rows(root):
        problems += row_problems(number, languages, functions, why, exported)
        for language in languages:
            left_out.update({(language, name): number for name in functions})
    for language in LANGUAGES:
        for name in sorted(exported):
            line, has = left_out.get((language, name)), name in used[language]
            if has and line:
                problems.append(f"{TABLE}:{line}: {name} can be called from {language}; take it out")
            elif not has and not line:
                problems.append(f"include:1: {name} cannot be called from {language}; add it there, or to {TABLE} with the reason")
    return problems


GOOD = {"include/a.h": "TP_API int tp_a(int b);\nTP_API int tp_b(int b);\n", "src/cobol/a.c": "int TP_A(void) {\n    return tp_a(1);\n}\n",
        "include/taskpool.hpp": "int a() { return tp_a(1) + tp_b(1); }\n", "examples/python/taskpool.py": 'SIGNATURES = {\n    "tp_a": [P]}\n',
        TABLE: "# a comment\ncobol python | tp_b | nobody needs it\n"}
CASES = [
    ("good tree", GOOD, None),
    ("a new function", {**GOOD, "include/b.h": "TP_API int tp_new(int c);\n"}, "tp_new cannot be called from cobol"),
    ("in a comment alone", {**GOOD, "include/taskpool.hpp": "// tp_b\nint a() { return tp_a(1); }\n"}, "tp_b cannot be called from cpp"),
    ("in the table and there", {**GOOD, "src/cobol/b.c": "int TP_B(void) {\n    return tp_b(1);\n}\n"}, "tp_b can be called from cobol"),
    ("gone", {**GOOD, TABLE: "cobol python | tp_b tp_c | nobody needs it\n"}, "tp_c is no function"),
    ("without a reason", {**GOOD, TABLE: "cobol python | tp_b |\n"}, "a row is LANGUAGES"),
    ("another language", {**GOOD, TABLE: "cobol python ada | tp_b | nobody needs it\n"}, "a row is LANGUAGES"),
]

if __name__ == "__main__":
    checklib.main(check, CASES)
