#!/usr/bin/env -S python3 -B
"""test_hostile.py PATH_TO_TASKPOOL: hostile text in every argument of every command, in tasks and in what handler
programs see, on the database of TASKPOOL_DSN. Text comes back byte for byte or is refused with words; it never becomes
SQL, a shell's command or a terminal's. Needs no more than Python's own library."""
import json
import os
import stat
import subprocess
import sys

from pool import BASE, DSN, PREFIX, SQLITE, TASKPOOL, check, environment, main, run, shown, told

# All that has a meaning somewhere: to SQL, ODBC, printf, a shell, a terminal, a log.
HOSTILE = [
    f"'; DROP TABLE {PREFIX}pending; --\"`\\ ? :id {{fn now()}} %s%n $(touch pwned) `touch pwned` ; touch pwned",
    f"\\'; DELETE FROM {PREFIX}pending; /* \\ */ {{d '2026-01-01'}} || && | > pwned",
    "a\nb\r\n2026-01-01 00:00:00 done forged\x1b[2J\x1b]0;title\x07\x7f\u009b31m\u202e\ufeff",
    "-e --dsn=x 名前 😀 \"quoted\" {\"json\":1}",
]


def is_tame(text):
    """Nothing in it moves a cursor or makes a line of its own."""
    return not any(c < " " and c not in "\n\t" or c == "\x7f" or "\x80" <= c <= "\x9f" or c in "\u202e\ufeff"
                   for c in text)


def answers(name, codes, *args):
    """It ends with one of the codes, says why when it refuses, and prints nothing a terminal obeys."""
    code, out, err = run(*args)
    check(f"{name} {args!r}", code in codes, f"exit code {code}: {err.strip()}")
    check(f"{name} {args!r} is tame", is_tame(out) and is_tame(err), repr(out + err))
    if code not in (0, 1, 9):
        check(f"{name} {args!r} says why", err.startswith("taskpool: ") and err.count("\n") == 1, repr(err))
    return code, out


def open_tasks():
    return len(run("list", "--json", "--limit", "10000")[1].splitlines())


def test_arguments():
    """Names are refused, texts are stored as they are, filters find nothing."""
    for text in HOSTILE[0], HOSTILE[2]:
        name = (2, 3)
        answers("enqueue handler", name, "enqueue", "--", text, "x")
        answers("show", name, "show", "--", text)
        answers("list handler", (1, 2, 3), "list", "--handler=" + text)
        answers("list state", name, "list", "--state=" + text)
        answers("list pool", name, "list", "--pool=" + text)
        answers("list after", name, "list", "--after=" + text)
        answers("list biz_key", (1, 2), "list", "--biz-key=" + text)
        answers("list dedup_key", (1, 2), "list", "--dedup-key=" + text)
        answers("list reason", (1, 2), "list", "--pool=all", "--reason=" + text)
        answers("list reason-like", (1, 2), "list", "--pool=all", "--reason-like=" + text)
        answers("list worker", name, "list", "--worker=" + text)
        answers("list since", name, "list", "--since=" + text)
        answers("failures", (1, 2, 3), "failures", "--reason-like=" + text)
        answers("edit id", name, "edit", "--params=x", "--", text)
        answers("edit edit-id", name, "edit", "--params=x", "--edit-id=" + text, "0190c3a2-7b1e-7f3a-9c55-2f6f0c1d2e3f")
        answers("erase", (1, 2), "erase", "--biz-key=" + text)
        answers("adopt", (3, 74), "adopt", "--", text)
        answers("retry id", name, "retry", "--id=" + text)
        answers("retry reason", (0,), "retry", "--reason=" + text)
        answers("skip handler", (0, 2, 3), "skip", "--handler=" + text, "--why=" + text, "--who=" + text)
        answers("release handler", (0, 2, 3), "release", "--handler=" + text)
        answers("purge handler", (0, 2, 3), "purge", "--older=1d", "--handler=" + text, "--who=" + text)
        answers("pause handler", name, "pause", "--", text)
        answers("resume handler", (1, 2, 3), "resume", "--", text)
        answers("history", name, "history", "--", text)
        answers("retention", name, "retention", "--", text, "1d")
        answers("calendar name", (1, 2, 3), "calendar", "show", "--", text)
        answers("calendar day", (1, 2, 3), "calendar", "day", "--", "none", text)
        answers("calendar file", (2,), "calendar", "import", "--", "n", text)
        answers("requests", name, "requests", "--", text)
        answers("requests state", (1, 2, 3), "requests", "--state=" + text)
        answers("approve", name, "approve", "--", text)
        answers("refuse", name, "refuse", "--why=" + text, "--", text)
        answers("four-eyes", (2,), "four-eyes", "--", text)
        answers("schedule name", name, "schedule", "add", "--", text, "every 5m", "h")
        answers("schedule rule", name, "schedule", "add", "--", "n", text, "h")
        answers("schedule zone", name, "schedule", "add", "--time-zone=" + text, "n", "5 * * * *", "h")
        answers("schedule handler", name, "schedule", "add", "--", "n", "every 5m", text)
        answers("schedule remove", (1, 2, 3), "schedule", "remove", "--", text)
        answers("unknown command", name, text)
        answers("work handler", (2, 3, 7), "work", "--handler=" + text + "=/bin/true", "--drain")
        answers("work plan", name, "work", "--handler=h=/bin/true", "--drain", "--plan=" + text)


def test_stored_text():
    """What is no name comes back byte for byte, in every form it is shown in."""
    for text in HOSTILE:
        # Keys hold no controls, which is told.
        if not is_tame(text):
            answers("enqueue biz_key", (2,), "enqueue", "--biz-key=" + text, "kept", "x")
            answers("enqueue dedup_key", (2,), "enqueue", "--dedup-key=" + text, "kept", "x")
        key, other = (text[:60].strip(), text[-60:].strip()) if is_tame(text) else ("plain", "also")
        code, out = answers("enqueue", (0,), "enqueue", "--biz-key=" + key, "--dedup-key=" + other, "--", "kept", text)
        task = shown(out.strip())
        check("params come back", task["params"] == text, repr(task["params"]))
        check("biz_key comes back", task["biz_key"] == key, repr(task["biz_key"]))
        check("dedup_key comes back", task["dedup_key"] == other, repr(task["dedup_key"]))
        check("a person is shown no control", is_tame(run("show", task["id"])[1]), "show")
        check("nor a program", is_tame(run("show", "--json", task["id"])[1]), "show --json")
        found = run("list", "--json", "--biz-key=" + key)[1]
        check("it is found by its key", task["id"] in found, found)
        answers("skip", (0,), "skip", "--id=" + task["id"], "--why=" + text, "--who=" + text[:60])
        reason = shown(task["id"])["reason"]
        check("so is the reason, but for controls", reason == "".join(c if c >= " " else "?" for c in text), repr(reason))
        answers("history", (0,), "history", task["id"])
        answers("pause", (0,), "pause", "--why=" + text, "--who=" + text[:60], "kept")
        answers("paused", (0,), "pause")
        answers("resume", (0,), "resume", "kept")
        answers("list", (0,), "list", "--pool=finished")
        answers("schedule", (0,), "schedule", "add", "--biz-key=" + key, "--", "s", "every 5m", "kept", text)
        answers("schedules", (0,), "schedule", "list")
        check("its params are kept", text in json.loads(run("schedule", "list", "--json")[1])["params"], "schedule")
        answers("schedule", (0,), "schedule", "remove", "s")


PROGRAM = """#!/usr/bin/env -S python3 -B
import json, os, sys, stat
sys.stdout.write("x" * 3000000)
seen = {{"argv": sys.argv[1:], "environ": dict(os.environ), "params": sys.stdin.read()}}
# 0, 1, 2 and what listing opens
seen["files"] = sorted(int(fd) for fd in os.listdir("/proc/self/fd"))
seen["sockets"] = [fd for fd in seen["files"] if fd < 3 and stat.S_ISSOCK(os.fstat(fd).st_mode)]
with open("/proc/self/status") as status:
    seen["signals"] = {{line.split(":")[0]: int(line.split()[1], 16) for line in status if line.startswith("Sig")
                       and line.split(":")[0] in ("SigBlk", "SigIgn")}}
with open(f"/proc/{{os.getppid()}}/cmdline", "rb") as cmdline:
    seen["parent"] = cmdline.read().decode(errors="replace")
try: # only root may
    with open(f"/proc/{{os.getppid()}}/environ", "rb") as environ:
        seen["parent"] += environ.read().decode(errors="replace")
except PermissionError:
    pass
seen["umask"] = os.umask(0)
os.umask(seen["umask"])
for i in range(3000):
    sys.stderr.write("y" * 9999)
with open(f"/proc/{{os.getppid()}}/status") as status:
    seen["peak_kb"] = [int(line.split()[1]) for line in status if line.startswith("VmHWM")][0]
with open({path!r}, "w") as file:
    json.dump(seen, file)
sys.stderr.write("\\n\\x1b[31mred\\rforged\\x9b\\u202e\\n")
sys.exit({code})
"""


def program(name, path, code):
    with open(name, "w", encoding="utf-8") as file:
        file.write(PROGRAM.format(path=path, code=code))
    os.chmod(name, 0o755)


def run_into_files(*args, **changes):
    """For much output: files never keep the program waiting, as a pipe does whose reader stands still."""
    with open("out", "w+b") as out, open("err", "w+b") as err:
        code = subprocess.run([TASKPOOL, *args], stdin=subprocess.DEVNULL, stdout=out, stderr=err, env=environment(changes), timeout=900,
                              check=False).returncode
        out.seek(0)
        err.seek(0)
        return told(args, code, out.read(), err.read())


def test_programs():
    """A program's name and a task's texts are words to nobody but it; it gets nothing that is not its own."""
    name = "./run $(touch pwned); touch pwned 'x"
    program(name, os.path.abspath("seen"), 3)
    text = HOSTILE[0]
    run("enqueue", "--biz-key=" + text[:100], "--", "run", text)
    worker = [f"--handler=run={name}", "--drain", "--retry=none", "--threads=3"]
    old = os.umask(0o027)
    code, out, err = run_into_files("work", *worker, TASKPOOL_LEAK="leak", PGPASSWORD="leak", LD_BIND_NOW="1")
    os.umask(old)
    check("work gives up", code == 8, f"{code} {err[-300:]}")
    with open("seen", encoding="utf-8") as file:
        seen = json.load(file)
    check("it has no arguments", seen["argv"] == [], seen["argv"])
    check("params", seen["params"] == text, repr(seen["params"]))
    check("biz_key", seen["environ"]["TASKPOOL_BIZ_KEY"] == text[:100], seen["environ"])
    allowed = ("PATH", "HOME", "LANG", "TZ", "TMPDIR")
    extra = [key for key in seen["environ"] if key not in allowed and not key.startswith(("LC_", "TASKPOOL_"))]
    check("the environment has what is promised", extra == [], extra)
    check("and no connection", "Driver" not in json.dumps(seen["environ"]) and "TASKPOOL_DSN" not in seen["environ"],
          seen["environ"])
    check("no files but 0, 1, 2 and those for progress and result", seen["files"] in ([0, 1, 2, 3, 4], [0, 1, 2, 3, 4, 5]) and not seen["sockets"], seen["files"])
    # SIGPIPE and SIGXFSZ are Python's, 32 and 33 the C library's own.
    ours = seen["signals"]["SigIgn"] & ~sum(1 << number - 1 for number in (13, 25, 32, 33))
    check("no signal is blocked or ignored", ours == 0 == seen["signals"]["SigBlk"], seen["signals"])
    check("the umask is the user's", seen["umask"] == 0o027, oct(seen["umask"]))
    check("the worker's environment hides the string", f"Prefix={PREFIX}" not in seen["parent"], "in /proc")
    check("30 MB of output take no memory", seen["peak_kb"] < 150000, seen["peak_kb"])
    last = err.splitlines()[-1]
    events = [line for line in err.splitlines() if " gave-up " in line]
    check("one line tells of it", len(events) == 1 and is_tame(events[0]) and "red forged" in events[0], events or last)
    trace = run("work", *worker, TP_TRACE="all")[2]
    check("TP_TRACE shows no string", "Driver=" not in trace and f"Prefix={PREFIX}" not in trace, "trace")
    for option in ("--handler=run=true;touch pwned", "--handler=run=$(touch pwned)", "--handler=run=|touch pwned"):
        code, _, err = run("work", option, "--drain")
        check(option, code == 7, f"{code} {err}")
    check("nothing was touched", not os.path.exists("pwned"), "pwned is there")


def test_poison_for_programs():
    """A text that fits into no environment fails its own task, and the worker goes on with the next."""
    import sqlite3
    path = [part.split("=", 1)[1] for part in BASE.split(";") if part.startswith("Database=")][0]
    with sqlite3.connect(path, timeout=30) as db:
        db.execute(f"INSERT INTO {PREFIX}pending (handler, biz_key, priority) VALUES ('big', ?, -9)", ("x" * 300000,))
        db.execute(f"INSERT INTO {PREFIX}pending (handler, biz_key) VALUES ('big', 'small')")
        db.execute(f"INSERT INTO {PREFIX}pending (handler, params, reason, created_at, modified_at, due_at) VALUES "
                   "('odd', CAST(X'C328FF' AS TEXT), CAST(X'1B5B324AFF' AS TEXT), -9223372036854775807, 9223372036854775807, 5)")
    db.close()
    with open("alert", "w", encoding="utf-8") as file:
        file.write("#!/bin/sh\ncat >/dev/null\necho told >>told\n")
    os.chmod("alert", 0o755)
    code, out, err = run("work", "--handler=big=/bin/true", "--drain", "--alert=./alert")
    check("the other is done", "done 1" in out and code == 8, f"{code} {out} {err[-300:]}")
    task = [json.loads(line) for line in run("list", "--json", "--pool=failed", "--handler=big")[1].splitlines()]
    check("it says why", task[0]["reason"] == "a text of this task is too long for a program's environment", task[0]["reason"])
    check("somebody is told", os.path.exists("told"), err[-300:])
    for form in ((), ("--json",)):
        code, out = answers("list", (0,), "list", "--handler=odd", *form)
        answers("show", (0,), "show", *form, json.loads(run("list", "--json", "--handler=odd")[1])["id"])
        answers("stats", (0,), "stats", *form)
        answers("check", (0, 9), "check", "--rows", *form)


def test_files():
    """A database that taskpool makes is its user's alone, whatever the umask allows."""
    old = os.umask(0)
    for command, codes in (("schema install", (0,)), ("work --handler h=/bin/true --drain", (5,)), ("stats", (5,))):
        dsn = f"Driver=SQLite3;Database={os.getcwd()}/made.db"
        code, _, err = run(*command.split(), TASKPOOL_DSN=dsn)
        check(command, code in codes, f"{code} {err}")
        for name in [name for name in os.listdir(".") if name.startswith("made.db")]:
            mode = stat.S_IMODE(os.stat(name).st_mode)
            check(f"{command}: {name} is ours alone", mode & 0o077 == 0, oct(mode))
            os.remove(name)
    os.umask(old)


def test():
    run("enqueue", "witness", "here")
    before = open_tasks()
    test_arguments()
    check("the tables are as they were", open_tasks() == before == 1, f"{before} {open_tasks()}")
    test_stored_text()
    test_programs()
    if SQLITE:
        test_poison_for_programs()
        test_files()
    check("the witness is there", len(run("list", "--json", "--handler=witness")[1].splitlines()) == 1, "gone")
    check("nothing ran in a shell", not os.path.exists("pwned"), "pwned is there")


main(test)
