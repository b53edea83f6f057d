#!/usr/bin/env -S python3 -B
"""What people see on a terminal: tables that fit, colours, the pager, local time, and what a mistyped word may have
meant. A pipe gets all of it, uncut and without colours."""
import fcntl
import os
import pty
import shutil
import struct
import subprocess
import sys
import termios

sys.dont_write_bytecode = True
from pool import TASKPOOL, check, environment, main, program, run

REASON = "connection refused by the bank's gateway after 30 seconds"
KEY = "\u5ba2\u6237" * 10  # 40 cells
MANY = 40  # rows, of which a terminal shows 24


def read_some(terminal):
    try:
        return os.read(terminal, 65536)
    except OSError:  # Linux says so at the end
        return b""


def on_terminal(width, *args, keys=None, **changes):
    """What a terminal of that width and 24 lines gets; NO_COLOR is unset unless given. keys: pairs of what is waited
    for and what is typed then."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, width, 0, 0))
    around = environment({"TERM": "xterm", "PAGER": "cat", **changes})
    if "NO_COLOR" not in changes:
        around.pop("NO_COLOR", None)
    # A session of its own: less reads keys from /dev/tty.
    process = subprocess.Popen(["setsid", "--ctty", "--wait", TASKPOOL, *args], stdin=theirs, stdout=theirs,
                               stderr=theirs, env=around)
    os.close(theirs)
    got, seen, keys = b"", 0, list(keys or [])
    while some := read_some(ours):
        got += some
        while keys and keys[0][0] in got[seen:]:
            seen = len(got)
            os.write(ours, keys.pop(0)[1])
    os.close(ours)
    check("all keys were asked for, and it ends well", not keys and process.wait() == 0, got[-200:])
    return got.decode().replace("\r\n", "\n")


def cells(line):
    return sum(2 if ord(c) >= 0x2e80 else 1 for c in line)


def tables(task):
    wide = on_terminal(200, "list", "--pool", "failed", "--color", "never")
    narrow = on_terminal(80, "list", "--pool", "failed", "--color", "never")
    check("80 columns hold together", all(cells(line) <= 80 for line in narrow.splitlines()), narrow)
    check("the id is whole", task in narrow, narrow)
    check("text is cut with an ellipsis", "connection" in narrow and "\u2026" in narrow, narrow)
    check("SHARD is left out first", "SHARD" not in narrow and "SHARD" in wide, narrow)
    piped = run("list", "--pool", "failed")[1]
    check("a pipe gets all", REASON in piped and KEY in piped and "\u2026" not in piped, piped)
    check("a pipe gets no colours", "\033" not in piped, piped)


def colours():
    check("colours on a terminal", "\033[31m" in on_terminal(80, "list", "--pool", "failed"))
    check("NO_COLOR", "\033" not in on_terminal(80, "list", "--pool", "failed", NO_COLOR="1"))
    check("--color always", "\033[31m" in run("list", "--pool", "failed", "--color", "always")[1])
    check("--color always, JSON", "\033" not in run("list", "--pool", "failed", "--json", "--color", "always")[1])
    check("--color of another word", run("list", "--color", "red")[0] == 2)


def pager():
    mark = program("mark", "echo BEGIN; cat; echo \"END ${TASKPOOL_DSN:-none}\"\n")
    shown = on_terminal(80, "list", "--pool", "failed", PAGER=mark)
    check("the pager", shown.startswith("BEGIN\n") and shown.endswith("END none\n") and "HANDLER" in shown, shown)
    check("--no-pager", "BEGIN" not in on_terminal(80, "list", "--pool", "failed", "--no-pager", PAGER=mark))
    check("not with --json", "BEGIN" not in on_terminal(80, "list", "--pool", "failed", "--json", PAGER=mark))
    check("one that is not there", "HANDLER" in on_terminal(80, "list", "--pool", "failed", PAGER="/no/such"))
    check("a pipe has none", "BEGIN" not in run("list", "--pool", "failed", PAGER=mark)[1])


def less():
    """A table longer than a page: less shows the first one and ends when it is told to, and so do we."""
    if not shutil.which("less"):
        print("ok - less # SKIPPED: it is not installed")
        return
    like_less = {"PAGER": "less -FRX", "LESS": "FRX"}
    one = on_terminal(80, "list", "--pool", "failed", "--color", "never", **like_less)
    check("less ends by itself after a short table", "HANDLER" in one and one.count(" pay ") == 1, one)
    early = on_terminal(80, "list", "--color", "never", keys=[(b"\n:", b"q")], **like_less)
    check("less quits early", 10 < early.count(" many ") < 24, early)
    whole = on_terminal(80, "list", "--color", "never", keys=[(b"\n:", b"G"), (b"(END)", b"q")], **like_less)
    ids = {line.split()[0] for line in run("list")[1].splitlines()[1:]}
    check("less shows the last row", len(ids) == MANY and sorted(ids)[-1] in whole, whole)


def long_table():
    """Rows beyond the first page of reads stand below the same titles."""
    shown = on_terminal(80, "list", "--color", "never")
    rows = [line for line in shown.splitlines() if " many " in line]
    check("a table longer than a page", len(rows) == MANY and shown.count("HANDLER") == 1, shown)
    check("its columns stand below each other", len({line.index(" many ") for line in rows}) == 1, shown)


def times(task):
    utc = run("show", task, TZ="XXX-5:30")[1]
    local = run("show", task, "--local-time", TZ="XXX-5:30")[1]
    check("UTC unless asked", "+05:30" not in utc and "Z\n" in utc, utc)
    check("--local-time", "+05:30\n" in local, local)


def words():
    check("a command", "did you mean list?" in run("lsit")[2], run("lsit")[2])
    check("an option", "did you mean --handler?" in run("list", "--handlr", "x")[2], run("list", "--handlr", "x")[2])
    check("an option of all commands", "did you mean --quiet?" in run("list", "--quite")[2])
    check("nothing near", "did you mean" not in run("frobnicate")[2])
    check("no value is told", "secret" not in run("list", "--dns=secret")[2])


def test():
    failing = program("failing", f"echo \"{REASON}\" >&2; exit 1\n")
    task = run("enqueue", "pay", "--biz-key", KEY)[1].strip()
    code, _, err = run("work", "--handler", f"pay={failing}", "--retry", "none", "--drain")
    check("work", code == 8, err)
    tables(task)
    colours()
    pager()
    for _ in range(MANY):
        run("enqueue", "many", "x")
    less()
    long_table()
    times(task)
    words()


main(test)
