#!/usr/bin/env -S python3 -B
"""Functions and files stay small: half of the functions have at most 15 lines, 90 % at most 40, none more
than 70 (from the opening to the closing brace, both counted); no file has more than 400 lines. Prints the
figures. allow.txt: "path" for a long file, "path:function" for a long function."""
import sys

import checklib

MEDIAN, P90, LONGEST, FILE = 15, 40, 70, 400


def percentile(sorted_lines, percent):
    """The smallest length that so many percent of the functions do not exceed."""
    return sorted_lines[max(0, -(-len(sorted_lines) * percent // 100) - 1)] if sorted_lines else 0


def check(root):
    allow, problems, lengths, files = checklib.Allow("sizes", root), [], [], []
    for path in checklib.walk(root, ["src", "include", "dialects"], (".c", ".h")):
        text = checklib.read(root, path)
        lines = text.count("\n")
        files.append(lines)
        if lines > FILE and path not in allow:
            problems.append(f"{path}:{FILE + 1}: file of {lines} lines, over {FILE}; split it by theme")
        for function in checklib.functions(text):
            lengths.append(function.lines)
            if function.lines > LONGEST and f"{path}:{function.name}" not in allow:
                problems.append(f"{path}:{function.first}: {function.name} has {function.lines} lines, "
                                f"over {LONGEST}; split it")
    lengths.sort()
    median, p90 = percentile(lengths, 50), percentile(lengths, 90)
    if median > MEDIAN or p90 > P90:
        problems.append(f"src:1: median {median} (at most {MEDIAN}), 90 % within {p90} lines (at most {P90}); "
                        "split the longest functions")
    if root == checklib.repository():
        print(f"sizes: {len(lengths)} functions, median {median}, p90 {p90}, "
              f"max {lengths[-1] if lengths else 0} lines; {len(files)} files, max {max(files, default=0)}",
              file=sys.stderr)
    return problems + allow.stale()


def function(name, lines):
    return f"static int {name}(int a,\n    int b) {{\n" + "    a++;\n" * (lines - 2) + "}\n\n"


CASES = [
    ("good tree", {"src/a.c": "struct s {\n    int a;\n};\n\nstatic const int t[] = {\n    f(1),\n};\n\n" +
                   function("f", 15)}, None),
    ("long function", {"src/a.c": function("f", 71)}, "src/a.c:2: f has 71 lines"),
    ("long file", {"dialects/a.c": "int a;\n" * 401}, "file of 401 lines"),
    ("median", {"src/a.c": function("f", 16)}, "median 16"),
    ("90 %", {"src/a.c": function("f", 3) * 8 + function("g", 41) * 2}, "90 % within 41"),
    ("attributes and braces in strings", {"src/a.c": "TP_API int tp_f(void)\n    TP_CHECKED {\n" +
                                          '    x = "}";\n' * 69 + "}\n"}, "tp_f has 71 lines"),
]

if __name__ == "__main__":
    checklib.main(check, CASES)
