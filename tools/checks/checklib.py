"""Shared by the checks in this folder: finding files, reading C just well enough, allow-lists, self-tests.

Python because telling comments from strings from code in awk is no pleasure to read. Our C is formatted by
clang-format, which is what lets functions be found without a parser: see functions().

A check is a function from a tree's root folder to a list of problems "path:line: what is wrong; what to do".
Its cases are (name, {path: text}, word): made-up trees in which it must find a problem with that word, or
none where the word is None.
"""
import os
import re
import subprocess
import sys
import tempfile

ALLOW = "tools/checks/allow.txt"
SKIPPED_FOLDERS = {".git", ".scratch", "node_modules", "__pycache__"}


def walk(root, folders, suffixes):
    """Paths below the given folders with one of the suffixes, relative to root, sorted."""
    found = []
    for folder in folders:
        for here, dirs, names in os.walk(os.path.join(root, folder)):
            dirs[:] = [d for d in dirs if d not in SKIPPED_FOLDERS]
            found += [os.path.relpath(os.path.join(here, n), root) for n in names if n.endswith(suffixes)]
    return sorted(found)


def tracked(root):
    """Every file that git keeps or would keep; in a folder without git, every file."""
    git = ["git", "-C", root, "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        listed = subprocess.run(git, capture_output=True, check=True).stdout.decode("utf-8", "replace")
        paths = [p for p in listed.split("\0") if p]
    except (OSError, subprocess.CalledProcessError):
        paths = walk(root, ["."], ("",))
    return sorted(os.path.normpath(p) for p in paths if os.path.isfile(os.path.join(root, p)))


def read(root, path):
    with open(os.path.join(root, path), encoding="utf-8", errors="replace") as file:
        return file.read()


TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)


def _blank(text):
    return re.sub(r"[^\n]", " ", text)


def code_only(text):
    """The text with comments and the insides of literals blanked; lines and columns stay."""

    def replace(match):
        token = match.group()
        if token[0] == "/":
            return _blank(token)
        return token[0] + _blank(token[1:-1]) + token[-1]

    return TOKEN.sub(replace, text)


def literals(text):
    """(line, content) of each string literal; adjacent literals count as one. Includes are left out."""
    found, end = [], -1
    for match in TOKEN.finditer(text):
        token = match.group()
        if token[0] == "/":
            continue
        between = TOKEN.sub("", text[end : match.start()]) if end >= 0 else "x"
        end = match.end()
        if token[0] == "'":
            end = -1
            continue
        line_start = text.rfind("\n", 0, match.start()) + 1
        if re.match(r"\s*#\s*include", text[line_start : match.start()]):
            end = -1
        elif found and not between.strip("\\ \t\n"):
            found[-1] = (found[-1][0], found[-1][1] + token[1:-1])
        else:
            found.append((text.count("\n", 0, match.start()) + 1, token[1:-1]))
    return found


class Function:
    def __init__(self, name, header, first, last):
        self.name, self.header, self.first, self.last = name, header, first, last
        self.static = re.search(r"\bstatic\b", header) is not None
        self.lines = last - first + 1  # from the line with the opening brace to the closing brace


def functions(text):
    """Function definitions: a header from column 0 ending in "{", a body ending with "}" in column 0."""
    found, header = [], ""
    opened, name, macro = 0, "", False
    for number, line in enumerate(code_only(text).split("\n"), 1):
        macro, in_macro = line.endswith("\\") and (macro or line.lstrip().startswith("#")), macro
        if opened:
            if line.startswith("}"):
                if name:
                    found.append(Function(name, header, opened, number))
                opened, header = 0, ""
            continue
        if not line.strip() or line.startswith("#") or in_macro:
            header = ""
            continue
        header += " " + line.strip()
        if line.rstrip().endswith("{"):
            opened, name = number, _function_name(header)
            if re.match(r'\s*extern\s+"[^"]*"\s*\{', header):
                opened, header = 0, ""
        elif line.rstrip().endswith((";", "}")):
            header = ""
    return found


def _function_name(header):
    head = header.split("(")[0]
    match = re.search(r"(\w+)\s*$", head)
    if "(" not in header or "=" in head or not match or re.match(r"\s*(typedef|#)", header):
        return ""
    return match.group(1)


def allowed(check_name):
    """The allow-list of a check: {key: reason} from the lines of allow.txt that begin with its name."""
    entries = {}
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "allow.txt"), encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            words = line.split(maxsplit=2)
            if words and not line.startswith("#"):
                if len(words) < 3:
                    sys.exit(f"{ALLOW}:{number}: name a check, what it is to allow, and the reason")
                if words[0] == check_name:
                    entries[words[1]] = words[2].strip()
    return entries


class Allow:
    """An allow-list that also reports entries which nothing needs any more."""

    def __init__(self, check_name, root):
        self.name = check_name
        self.entries = allowed(check_name) if root == repository() else {}
        self.used = set()

    def __contains__(self, key):
        if key in self.entries:
            self.used.add(key)
        return key in self.entries

    def stale(self):
        return [f"{ALLOW}:1: {self.name}: nothing needs the entry {k} any more; remove it"
                for k in self.entries if k not in self.used]


def repository():
    return os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))


def write_tree(root, files):
    for path, text in files.items():
        full = os.path.join(root, path)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "w", encoding="utf-8") as file:
            file.write(text)


def self_test(check, cases):
    failed = 0
    for name, files, word in cases:
        with tempfile.TemporaryDirectory() as root:
            write_tree(root, files)
            problems = check(os.path.realpath(root))
        right = not problems if word is None else any(word in p for p in problems)
        if not right:
            failed += 1
            print(f"self-test '{name}': expected {word!r}, found {problems}")
    if not any(word for _, _, word in cases):
        sys.exit("self-test: no case in which the check fails")
    return failed


def main(check, cases):
    """check.py [--self-test | --root DIR]"""
    arguments = sys.argv[1:]
    if arguments == ["--self-test"]:
        sys.exit(1 if self_test(check, cases) else 0)
    root = repository()
    if len(arguments) == 2 and arguments[0] == "--root":
        root = os.path.realpath(arguments[1])
    elif arguments:
        sys.exit(f"usage: {sys.argv[0]} [--self-test | --root DIR]")
    problems = check(root)
    for problem in problems:
        print(problem)
    sys.exit(1 if problems else 0)
