#!/usr/bin/env -S python3 -B
"""test_pages.py BUILD_DIR: the commands of README.md and docs/ are run as they are pasted.

Each indented block and each fence of `sh` is run by bash, those of one page one after the other, in a folder of their own
with an installed taskpool and a new pool on SQLite. A command must end with 0, and output that the page shows must come. What cannot be
run stands in pages_not_run.txt with the reason. A block that is neither a command nor known as something else fails. So
does a command between backticks, such as `taskpool stats`, that is complete and not understood.

Symptoms of docs/operating.md are for test_runbook.py, C is for tools/checks/snippets.py."""
import glob
import os
import re
import sqlite3
import subprocess
import sys
import tempfile

import shown

BUILD = os.path.realpath(sys.argv[1])
HERE = os.path.dirname(os.path.realpath(__file__))
ROOT = os.path.realpath(os.path.join(HERE, "..", ".."))
LIMIT_S = 300  # for what hangs
failed = passed = 0

COMMAND = re.compile(r"(?:\$ |[A-Z_]+=\S* )?(?:\./|\. |tools/|examples/|tests/|build/|taskpool\b(?!:)|taskpool-|PATH=|"
                     r"(?:c\+\+|cc|clang-format|cmake|cobc|cp|ctest|export|install|journalctl|kill|payroll|printf|sudo|systemctl) )")
SQL = re.compile("INSERT INTO|SELECT")
OUTPUT = re.compile("HANDLER  WHAT")
# A connection string, lines of a unit and of a crontab, what is hashed, messages of the program, COBOL, C++.
OTHER = re.compile(r"OPTIONS=|\d+ \d+ \* \* \*|taskpool audit \d|Driver=|DSN=shop|\[Service\]|taskpool: employees|2030-|(CALL|COPY|EVALUATE|EXEC SQL|INITIALIZE|MOVE|PERFORM)\b|taskpool::|tp_conn \*")
FENCED = {"c", "csv", "sql"}  # run elsewhere
DRAWN = {"docs/lifecycle.md", "docs/worker.md"}

# What a page takes for granted.
BEFORE = {
    "docs/audit.md": "taskpool enqueue pay; taskpool skip --handler pay --why test",
    "docs/console.md": "mkdir -p etc; for i in pay mail pay-viewer; do (umask 077; echo \"$TASKPOOL_DSN\" >etc/$i.dsn); done\n"
                       "(umask 077; openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=tasks.example.org -keyout etc/console.key "
                       "-out etc/console.crt 2>/dev/null)",
    "docs/cobol.md": "cp examples/cobol/PAYRUN.cob examples/cobol/PAYWORK.cob .",
    "docs/cpp.md": "cp examples/once.cpp .",
    "docs/control-totals.md": r"""
printf '%s\n' 'biz_key,amount' a,10.00 b,2.55 c,1.25 d,3.00 >a.csv
taskpool enqueue --file a.csv --handler pay
printf '#!/bin/sh\nexit $([ "$TASKPOOL_BIZ_KEY" = d ] && echo 1 || echo 0)\n' >pay.sh
chmod +x pay.sh; taskpool work --handler pay=./pay.sh --retry none --drain || [ $? = 8 ]
taskpool enqueue pay '{"amount":0.25}'
for i in pending finished failed; do sqlite3 pool.db "UPDATE tp_$i SET created_at = 1763982000000 + 31536000000"; done
printf '#!/bin/sh\necho pay 5 17.05\n' >query.sh; chmod +x query.sh
sqlite3 shop.db "CREATE TABLE payments AS SELECT 'pay' AS handler, value AS cents FROM json_each('[1000, 255, 125, 300, 25]')"
""",
    "docs/schedules.md": "",
    "docs/services.md": r"""
mkdir -p etc; echo "$TASKPOOL_DSN" >shop.dsn
taskpool enqueue shop; taskpool work --handler shop=/bin/false --retry none --drain --log-format json 2>journal || [ $? = 8 ]""",
}
# Programs that are not run here as they are. A console is stopped when it listens.
PRELUDE = r"""
set -euo pipefail
trap 'echo "failed: $BASH_COMMAND" >&2' ERR
sudo() { "$@"; }
ldconfig() { :; }
journalctl() { cat journal; }
console() {
  coproc { exec taskpool-console "$@" --listen 127.0.0.1:0 2>&1; }
  local line pid=$COPROC_PID code=0
  IFS= read -r line <&"${COPROC[0]}"
  [[ $line == *http*://127.0.0.1:* ]]
  kill "$pid"
  wait "$pid" || code=$?
  [ "$code" = 0 ]
}
[ ! -e exported ] || . ./exported
"""


def check(name, good, what=""):
    global failed, passed
    passed += bool(good)
    failed += not good
    if not good:
        print(f"not ok - {name}: {what}", flush=True)


# ---- The pages

def read(*path):
    with open(os.path.join(ROOT, *path), encoding="utf-8") as file:
        return file.read()


def pages():
    return ["README.md", *sorted(os.path.relpath(path, ROOT) for path in glob.glob(f"{ROOT}/docs/**/*.md", recursive=True)),
            "examples/payroll/README.md"]


def blocks(path):
    """(line, kind of fence or None, lines) of each fence, and of what is indented after an empty line."""
    text = read(path)
    if path == "docs/operating.md":
        text = re.sub(r"\n# Symptoms\n.*\n(?=# Alarms\n)", lambda match: "\n" * match.group().count("\n"), text, flags=re.S)
    fence, block, before = None, None, ""
    for number, line in enumerate([*text.splitlines(), ""], 1):
        if fence is not None:
            if line.startswith("```"):
                yield block
                fence = block = None
            else:
                block[2].append(line)
        elif line.startswith("```"):
            fence, block = line[3:], (number, line[3:].split(" ")[0], [])
        elif line.startswith("    ") and (block or not before.strip()):
            block = block or (number, None, [])
            block[2].append(line.strip())
        elif block:
            yield block
            block = None
        before = line


def excuses():
    for line in read(HERE, "pages_not_run.txt").splitlines():
        if line and not line.startswith("#"):
            yield tuple(part.strip() for part in line.split(" | "))


# ---- Running them

class Place:
    """A folder in which the commands of one page run."""

    def __init__(self, prefix):
        self.holder = tempfile.TemporaryDirectory()
        self.folder, self.prefix, self.said = self.holder.name, prefix, ""
        for name in ("dialects", "docs", "examples", "include", "sql", "src", "tests", "tools"):
            os.symlink(os.path.join(ROOT, name), os.path.join(self.folder, name))
        os.mkdir(os.path.join(self.folder, "build"))
        for name in ("library", "release"):
            os.symlink(BUILD, os.path.join(self.folder, "build", name))
        library = os.path.dirname(glob.glob(f"{prefix}/**/libtaskpool.so", recursive=True)[0])
        self.env = {**os.environ, "HOME": self.folder, "TMPDIR": self.folder, "PYTHONDONTWRITEBYTECODE": "1",
                    "PATH": f"{prefix}/bin:{os.environ['PATH']}", "LD_LIBRARY_PATH": library, "LIBRARY_PATH": library,
                    "PKG_CONFIG_PATH": f"{library}/pkgconfig",
                    "TASKPOOL_LIBRARY": f"{library}/libtaskpool.so",
                    "TASKPOOL_DSN": re.sub(r"Database=[^;]*", f"Database={self.folder}/pool.db", os.environ["TASKPOOL_DSN"])}
        self.bash("taskpool schema install --quiet")

    def bash(self, text):
        for there, here in (("/tmp/", f"{self.folder}/"), ("/etc/taskpool/", f"{self.folder}/etc/"), ("/usr/local", self.prefix),
                            ("/usr/share", f"{self.prefix}/share")):
            text = re.sub(rf"(?<![\w/]){there}", there if text.startswith(here) else here, text)
        text = re.sub(r"^taskpool-console(?! user\b)", "console", text, flags=re.M)
        done = subprocess.run(["bash", "-c", f"{PRELUDE}\n{text}\nexport -p >exported"], cwd=self.folder, env=self.env, text=True,
                              input="a pass phrase\n" * 2, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=LIMIT_S, check=False)
        self.said = done.stdout
        return done.returncode

    def sql(self, text):
        with sqlite3.connect(os.path.join(self.folder, "pool.db"), timeout=LIMIT_S) as database:
            database.execute(text)
        database.close()


def is_there(path, line):
    """Of a command that is not run: its script, and each option in it, in a script that it calls, or in its folder."""
    script = re.match(r"tools/[\w/]+\.sh", line)
    if not script:
        return
    check(f"{path}: {line}", os.path.isfile(os.path.join(ROOT, script.group())), "no such file")
    text = read(script.group())
    called = re.findall(r"tools/[\w/]+\.(?:py|sh)", text)
    called += [os.path.relpath(name, ROOT) for name in glob.glob(f"{ROOT}/{script.group()[:-3]}/*.*")]
    text += "".join(read(name) for name in called if name.endswith((".py", ".sh")) and os.path.isfile(os.path.join(ROOT, name)))
    for option in re.findall(r"--[a-z-]+", line.split("#")[0]):
        check(f"{path}: {line}", option in text, f"{option} is not there")


def run_block(path, place, number, lines, used):
    to_run = []
    for line in lines:
        reasons = [excuse for excuse in excuses() if excuse[0] in (path, "*") and line.startswith(excuse[1])]
        used.update(reasons)
        if reasons:
            is_there(path, line)
        else:
            to_run.append(line)
    if to_run:
        code = place.bash("\n".join(to_run))
        check(f"{path}:{number}: {'; '.join(to_run)}", code == 0, f"{code}\n{place.said[-2000:]}")


def run_page(path, prefix, used):
    place = None
    for number, kind, lines in blocks(path):
        first = lines[0]
        if kind in FENCED or kind == "" and path in DRAWN or kind is None and OTHER.match(first):
            continue
        if kind == "" and path == "docs/adopting.md":
            said = "".join(read(name) for name in glob.glob(f"{ROOT}/examples/adopt/*.adopt"))
            check(f"{path}:{number}", "\n".join(lines) in said, "not that of examples/adopt")
            continue
        if place is None:
            place = Place(prefix)
            check(f"{path}: what it takes for granted", place.bash(BEFORE.get(path, "")) == 0, place.said)
        if kind == "sh" or COMMAND.match(first):
            run_block(path, place, number, lines, used)
        elif OUTPUT.match(first):
            check(f"{path}:{number}: what is shown", not shown.absent(lines, place.said), place.said)
        elif SQL.match(first):
            place.sql("\n".join(lines))
        else:
            check(f"{path}:{number}", False, f"no command that is known here, and nothing else: {first}")
    if place:
        place.holder.cleanup()


# ---- Between backticks

NAMES_ONLY = "adopt|bench|calendar import|enqueue|erase|pause|purge|release|retention activity|retry|skip|top|work|workers drain"
VALUES = {"FILE.prom": "metrics.prom", "ID": "01a20da1-58a2-7000-a0ea-15ba02185f11", "COMMAND": "list"}


def run_inline(prefix):
    """Usage is exit code 2. Those with a word in capitals that has no value here are left to build.manual, which looks at their options."""
    place, tried = Place(prefix), set()
    for path in pages():
        text = re.sub(r"^(```.*?^```|    [^\n]*)$", "", read(path), flags=re.M | re.S)
        for command in {" ".join(part.split()) for part in re.findall(r"`(taskpool [^`|]+)`", text)} - tried:
            words = [VALUES.get(word, word) for word in command.split(" ")]
            if re.fullmatch(rf"taskpool ({NAMES_ONLY}|(work|bench) .*)", command) or re.search(r"[A-Z]{2}", " ".join(words)):
                continue
            tried.add(command)
            code = place.bash(" ".join(words))
            check(f"{path}: `{command}`", code != 2, place.said)
    check("there are some", len(tried) > 10, tried)
    place.holder.cleanup()


def main():
    used = set()
    with tempfile.TemporaryDirectory() as prefix:
        subprocess.run(["cmake", "--install", BUILD, "--prefix", prefix], check=True, stdout=subprocess.DEVNULL)
        for path in pages():
            run_page(path, prefix, used)
        run_inline(prefix)
    check("pages_not_run.txt has what is needed only", set(excuses()) == used, set(excuses()) - used)
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed != 0)


main()
