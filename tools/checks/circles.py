#!/usr/bin/env -S python3 -B
"""Files form no circle: whoever calls, or names the data of, another file is not called by it in turn, however many
files lie between; nor do headers include each other in a circle. allow.txt: the files that are in one still."""
import os
import re

import checklib

INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.M)
DATA = re.compile(r"^(?!static\b|extern\b|typedef\b)[a-z][^(){};=]*?\b(\w+)\s*(?:\[[^]]*\]\s*)*(?:=|;)|"
                  r"^(?!static\b|extern\b|typedef\b)[a-z][^(){};=\n]*\(\*(\w+)\)\([^)]*\)\s*(?:=[^;]*)?;", re.M)
MACRO = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)((?:\\\n|[^\n])*)", re.M)
NO_WORD = re.compile(r"\b(?:struct|enum|union)\s+\w+|(?:->|\.)\s*\w+")
WORD = re.compile(r"\b[A-Za-z_]\w*")


def defined(text, code):
    """The names with outside linkage that the file defines."""
    names = {f.name for f in checklib.functions(text) if not f.static}
    return names | {one or other for one, other in DATA.findall(code)}


def own(text, code):
    """Static names, which hide those of other files."""
    names = {f.name for f in checklib.functions(text) if f.static}
    return names | set(re.findall(r"^static\b[^(){};=]*?\b(\w+)\s*(?:\[[^]]*\]\s*)*(?:=|;)", code, re.M))


def words(code):
    """The names in the code that may be another file's: no tags, no members."""
    return set(WORD.findall(NO_WORD.sub(" ", code)))


def edges(root):
    """file -> the files it includes, calls, or names the data of. A name without a prefix is its own folder's."""
    paths = checklib.walk(root, ["src", "dialects"], (".c", ".h"))
    texts = {path: checklib.read(root, path) for path in paths}
    codes = {path: checklib.code_only(text) for path, text in texts.items()}
    home, macros, found = {}, {}, {}
    for path in paths:
        if path.endswith(".c"):
            home.update(dict.fromkeys(defined(texts[path], codes[path]) - {"main"}, path))
        else:
            macros.update({name: words(body) for name, body in MACRO.findall(codes[path])})
    for path in paths:
        includes = set()
        for name in INCLUDE.findall(texts[path]):
            beside = os.path.normpath(os.path.join(os.path.dirname(path), name))
            includes |= {full for full in ("src/" + name, beside) if full in texts}
        names = words(codes[path]) if path.endswith(".c") else set()
        names = names.union(*(macros[n] for n in names if n in macros)) - own(texts[path], codes[path])
        homes = {home[n] for n in names if n in home
                 and (n.startswith("tp") or os.path.dirname(home[n]) == os.path.dirname(path))}
        found[path] = (includes | homes) - {path}
    return found


def circles(graph):
    """Sets of files of which each reaches every other (Tarjan's algorithm)."""
    number, low, stack, result = {}, {}, [], []

    def visit(path):
        number[path] = low[path] = len(number)
        stack.append(path)
        for other in sorted(graph[path]):
            if other not in number:
                visit(other)
            if other in stack:
                low[path] = min(low[path], low[other])
        if low[path] == number[path]:
            at = stack.index(path)
            if len(stack) - at > 1:
                result.append(sorted(stack[at:]))
            del stack[at:]

    for path in sorted(graph):
        if path not in number:
            visit(path)
    return result


def check(root):
    allow, problems, graph = checklib.Allow("circles", root), [], edges(root)
    for circle in circles(graph):
        new = [path for path in circle if path not in allow]
        for path in new:
            inside = ", ".join(sorted(graph[path] & set(circle)))
            problems.append(f"{path}:1: in a circle of {len(circle)} files, by way of {inside}; "
                            "move what both need to a file below them")
    return problems + allow.stale()


CASES = [
    ("good tree", {"src/ops/a.c": '#include "ops/b.h"\nvoid tpi_a(void) {\n    tpi_b();\n}\n',
                   "src/ops/b.h": "void tpi_b(void);\n",
                   "src/ops/b.c": '#include "ops/b.h"\n/* for tpi_a() */\nvoid tpi_b(void) {\n    note("tpi_a");\n}\n'}, None),
    ("two that call each other", {"src/ops/a.c": "void tpi_a(void) {\n    tpi_b();\n}\n",
                                  "src/ops/b.c": "void tpi_b(void) {\n    tpi_a();\n}\n"}, "src/ops/b.c:1: in a circle of 2"),
    ("by way of a third", {"src/ops/a.c": "void tpi_a(void) {\n    tpi_b();\n}\n",
                           "src/ops/b.c": "void tpi_b(void) {\n    tpi_c();\n}\n",
                           "src/base/c.c": "void tpi_c(void) {\n    tpi_a();\n}\n"}, "in a circle of 3"),
    ("by a pointer", {"src/ops/a.c": "void tpi_a(void) {\n    run(tpi_b);\n}\n",
                      "src/ops/b.c": "void tpi_b(void) {\n    tpi_a();\n}\n"}, "in a circle of 2"),
    ("by a table", {"src/ops/a.c": "void tpi_a(void) {\n    run(tpi_table);\n}\n",
                    "src/ops/b.c": "const struct row tpi_table[] = {\n    {tpi_a},\n};\n"}, "in a circle of 2"),
    ("headers", {"src/ops/a.h": '#include "ops/b.h"\n', "src/ops/b.h": '#include "ops/a.h"\n'}, "src/ops/a.h:1: in a circle"),
    ("by a macro", {"src/odbc/a.h": "#define TPI_CALL(f) \\\n    tpi_end(f)\n",
                    "src/odbc/a.c": "void tpi_a(void) {\n    TPI_CALL(1);\n}\n",
                    "src/odbc/b.c": "void tpi_end(int f) {\n    tpi_a();\n}\n"}, "in a circle of 2"),
    ("statics and members hide", {"src/cli/a.c": "void look(void) {\n    tell();\n}\n",
                                  "src/cli/b.c": "static void look(void) {\n}\nvoid tell(void) {\n    look();\n    a.look();\n}\n"}, None),
]

if __name__ == "__main__":
    checklib.main(check, CASES)
