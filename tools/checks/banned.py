#!/usr/bin/env -S python3 -B
"""Functions that have no bound, no error or hidden state are not called anywhere in our C."""
import re

import checklib

INSTEAD = {
    "sprintf": "snprintf or a buffer", "vsprintf": "vsnprintf or a buffer", "strcpy": "memcpy or a buffer",
    "strcat": "a buffer", "strncpy": "memcpy with the length", "strncat": "a buffer",
    "atoi": "strtol with its checks", "atol": "strtol with its checks", "atoll": "strtoll with its checks",
    "atof": "strtod with its checks", "strtok": "strtok_r or strcspn", "gets": "fgets",
    "system": "posix_spawn without a shell", "popen": "posix_spawn and a pipe", "tmpnam": "mkstemp",
    "mktemp": "mkstemp", "alloca": "malloc", "localtime": "localtime_r",
    "gmtime": "gmtime_r", "ctime": "strftime", "asctime": "strftime",
}
CALL = re.compile(r"(?<![\w.>])(" + "|".join(INSTEAD) + r")\s*\(")


def check(root):
    problems = []
    for path in checklib.walk(root, ["src", "include", "dialects", "tests", "tools", "examples"], (".c", ".h", ".cc", ".cpp")):
        code = checklib.code_only(checklib.read(root, path))
        for match in CALL.finditer(code):
            line = code.count("\n", 0, match.start()) + 1
            problems.append(f"{path}:{line}: {match.group(1)} is banned; use {INSTEAD[match.group(1)]}")
    return problems


CASES = [
    ("good tree", {"src/a.c": '/* strcpy( */ x = "gets(";\nmy_system(1);\nsnprintf(b, 2, "x");\n'}, None),
    ("sprintf", {"src/a.c": "\n\nsprintf(b, f);\n"}, "src/a.c:3: sprintf"),
    ("in a test", {"tests/a.c": "x = atoi (s);\n"}, "atoi"),
]

if __name__ == "__main__":
    checklib.main(check, CASES)
