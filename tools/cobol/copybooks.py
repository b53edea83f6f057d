#!/usr/bin/env -S python3 -B
"""Writes the copybooks of include/cobol from include/taskpool.h (status numbers, enumerations, limits) and src/cobol/blocks.h (what
lies where). tools/checks/copybooks.py sees when they differ.
usage: copybooks.py [--root DIR]"""
import os
import re
import sys
import textwrap

FOLDER = "include/cobol"
WIDTHS = {"int32_t": 4, "int64_t": 8, "char": 1}
PICTURES = {"int32_t": "PIC S9(9) COMP-5", "int64_t": "PIC S9(18) COMP-5"}
# The prefix of a copybook's names, and the enumerations behind its numbers: field -> (the enumeration, how its names begin in C, and here).
PREFIXES = {"TPAREA": "TPA", "TPENV": "TPE", "TPNEW": "TPN", "TPCLAIM": "TPC", "TPTASK": "TPT", "TPLIST": "TPL", "TPONCE": "TPO",
            "TPSTMT": "TPQ", "TPSTEP": "TPS", "TPRESULT": "TPR", "TPPROG": "TPP", "TPCANCEL": "TPX", "TPSTOP": "TPW", "TPEDIT": "TPD", "TPDAY": "TPY", "TPGATE": "TPG", "TPGROUP": "TPU"}
CHOICES = {("TPNEW", "sharding"): ("tp_sharding", "TP_", "TPN_"), ("TPNEW", "on_duplicate"): ("tp_on_duplicate", "TP_", "TPN_"),
           ("TPCLAIM", "on_lapse"): ("tp_lapse", "TP_", "TPC_"),
           ("TPSTOP", "cause"): ("tp_stop", "TP_STOP_", "TPW_"),
           ("TPCANCEL", "answer"): ("tp_cancel_answer", "TP_", "TPX_"), ("TPGATE", "on_failure"): ("tp_gate_failure", "TP_", "TPG_"),
           ("TPGROUP", "rule"): ("tp_group_rule", "TP_", "TPU_"), ("TPDAY", "kind"): ("tp_day_kind", "TP_", "TPY_"),
           ("TPTASK", "verdict"): ("tp_verdict", "TP_", "TPT_"), ("TPSTMT", "kind"): ("sql_kind", "SQL_", "TPQ_")}
LIMITS = ["TP_HANDLER_MAX", "TP_KEY_MAX", "TP_REASON_MAX", "TP_STEP_NAME_MAX", "TP_PARAMS_MAX", "TP_PREFIX_MAX", "TP_DURATION_MAX", "TP_TIME_MAX"]
BLOCK = re.compile(r"/\* (TP[A-Z]+): ((?:(?!\*/).)*)\*/\nstruct \w+ \{\n(.*?)\n\};", re.S)
MEMBER = re.compile(r"(?:/\*((?:(?!\*/).)*)\*/\s*)?(int32_t|int64_t|char) (\w+)((?:\[\w+\])*);", re.S)
STATUS = re.compile(r'^\s*X\((TP_\w+), (-?\d+), "\w+", \d, "([^"]*)"\)', re.M)


def read(root, path):
    with open(os.path.join(root, path), encoding="utf-8") as file:
        return file.read()


def numbers(text):
    """The constants that are sums and products of others."""
    found = {}
    for name, value in re.findall(r"^#define (\w+) +([^\n]*)", text, re.M):
        value = re.sub(r"INT64_C\((\d+)\)", r"\1", value.split("/*")[0].strip())
        value = re.sub(r"[A-Z]\w+", lambda word: str(found.get(word.group(), word.group())), value)
        if re.fullmatch(r"[\d ()*+]+", value):
            found[name] = eval(value)  # digits, sums and products alone, see above
    return found


def enumeration(text, name):
    body = re.search(r"enum " + name + r" \{(.*?)\}", text, re.S).group(1)
    listed = re.search(r"^ *(\w+_LIST)\(", body, re.M)
    if listed:
        body = re.search(r"#define " + listed.group(1) + r"\(X\)(.*?[^\\])\n", text, re.S).group(1)
        return re.findall(r"X\((\w+), (\d+),", body)
    return re.findall(r"(\w+)\s*=\s*(-?\d+)", re.sub(r"/\*.*?\*/", "", body, flags=re.S))


def comment(words):
    """In column 7, so that compilers of any age and both formats take it for one."""
    words = " ".join(words.replace(" * ", " ").split())
    return [f"      *> {line}" for line in textwrap.wrap(words[:1].upper() + words[1:], 62)]


def field(level, name, clause):
    """A field, in two lines where one would go beyond column 72."""
    indent = " " * (7 + (4 if level != "01" else 0) + (4 if level == "88" else 0))
    line = f"{indent}{level} {name} {clause}."
    return [line] if len(line) <= 72 else [f"{indent}{level} {name}", f"{indent}    {clause}."]


def dashed(name):
    return name.upper().replace("_", "-")


class Header:
    def __init__(self, root):
        self.public = read(root, "include/taskpool.h")
        self.blocks = read(root, "src/cobol/blocks.h")
        self.numbers = numbers(self.public + self.blocks)

    def members(self, body):
        """(comment, type, name, [sizes]) of each."""
        for note, kind, name, sizes in MEMBER.findall(body):
            yield note, kind, name, [self.numbers[size] if size in self.numbers else int(size) for size in re.findall(r"\[(\w+)\]", sizes)]

    def size(self, body):
        total = 0
        for _, kind, _, sizes in self.members(body):
            bytes_here = WIDTHS[kind]
            for size in sizes:
                bytes_here *= size
            total += bytes_here
        return total

    def choices(self, copybook, name):
        if (copybook, name) not in CHOICES:
            return []
        which, begins, here = CHOICES[copybook, name]
        return [(dashed(here + one.removeprefix(begins)), number) for one, number in enumeration(self.public + self.blocks, which)]


def clause(kind, sizes):
    if kind == "char":
        picture, sizes = f"PIC X({sizes[-1]})", sizes[:-1]
    else:
        picture = PICTURES[kind]
    return picture + (f" OCCURS {sizes[0]} TIMES" if sizes else "")


def conditions(header, copybook, name):
    if (copybook, name) == ("TPAREA", "status"):
        lines = field("88", "TP-ANSWER", "VALUE 0 THRU 999999999") + field("88", "TP-FAILURE", "VALUE -999999999 THRU -1")
        for one, number, meaning in STATUS.findall(header.public):
            lines += comment(meaning) + field("88", dashed(one), f"VALUE {number}")
        return lines
    if (copybook, name) == ("TPAREA", "may_retry"):
        return field("88", "TP-MAY-RETRY", "VALUE 1")
    return [line for one, number in header.choices(copybook, name) for line in field("88", one, f"VALUE {number}")]


def block(header, copybook, note, body):
    prefix = PREFIXES[copybook]
    lines = comment(note)
    if copybook == "TPAREA":
        lines += comment("TP-AREA is the only block that a program needs once. Of the others it may have several: COPY TPNEW REPLACING "
                         "==TP-NEW== BY ==MY-TASK== LEADING ==TPN== BY ==MINE==.")
    lines += field("01", "TP-" + copybook[2:], "").copy()
    lines[-1] = lines[-1].replace(" .", ".")
    for words, kind, name, sizes in header.members(body):
        lines += comment(words) if words else []
        if name == "size":
            lines += field("05", "FILLER", f"PIC S9(9) COMP-5 VALUE {header.size(body)}")
        elif name in ("filler", "reserved"):
            value = "VALUE SPACES" if kind == "char" else "VALUE 0"
            lines += field("05", "FILLER", f"{clause(kind, sizes)} {value}")
        else:
            value = " VALUE SPACES" if kind == "char" else " VALUE 0"
            lines += field("05", f"{prefix}-{dashed(name)}", clause(kind, sizes) + value)
            lines += conditions(header, copybook, name)
    return lines


def limits(header):
    lines = comment("TPLIMITS: what the library takes at most. Texts in bytes, times in milliseconds.") + ["       01 TP-LIMITS."]
    for name in LIMITS:
        number = header.numbers[name]
        picture = "PIC S9(9)" if number < 10 ** 9 else "PIC S9(18)"
        lines += field("05", dashed(name), f"{picture} COMP-5 VALUE {number}")
    return lines


def copybooks(root):
    """{path: text}"""
    header = Header(root)
    found = {name: block(header, name, note, body) for name, note, body in BLOCK.findall(header.blocks)}
    found["TPLIMITS"] = limits(header)
    begin = ["      *> Written by tools/cobol/copybooks.py; do not change it by hand."]
    return {f"{FOLDER}/{name}.cpy": "\n".join(begin + lines) + "\n" for name, lines in found.items()}


if __name__ == "__main__":
    root = sys.argv[2] if sys.argv[1:2] == ["--root"] else os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
    for path, text in copybooks(root).items():
        with open(os.path.join(root, path), "w", encoding="utf-8") as file:
            file.write(text)
