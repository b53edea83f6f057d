#!/usr/bin/env -S python3 -B
"""test_live.py PATH_TO_TASKPOOL: check, metrics, workers and top, on the database of TASKPOOL_DSN. top runs in a pseudo
terminal; what it shows is waited for."""
import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import uuid

sys.path.append(os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "..", "tools", "soak"))
import proxy  # pylint: disable=wrong-import-position
from pool import BASE, DSN, PREFIX, SQLITE, TASKPOOL, check, end, listed, main, program, read, run, start, until  # pylint: disable=wrong-import-position
from pseudo_terminal import Terminal  # pylint: disable=wrong-import-position


def test_check():
    code, out, _ = run("check")
    check("an empty pool is no alarm", code == 0, out)
    check("enqueue", run("enqueue", "pay", "1")[0] == 0)
    code, out, _ = run("check", "--grace", "1d")
    check("within the grace time there is no alarm", code == 0, out)
    check("which is said", "ok    workers: all tasks that have been due for more than 1d 0h have a worker\n" in out, out)
    until(lambda: run("check", "--grace", "0")[0] == 9)  # a clock without a fraction moves once a second
    code, out, _ = run("check", "--grace", "0")
    check("a task without a worker is an alarm", code == 9 and "pay: no living worker" in out, out)
    code, out, _ = run("check", "--grace", "0", "--nagios")
    check("as a plugin", code == 2 and out.startswith("TASKPOOL CRITICAL: pay") and out.count("\n") == 1, out)
    check("pause", run("pause", "pay", "--why", "test")[0] == 0)
    code, out, _ = run("check", "--grace", "0")
    check("a paused handler is a note", code == 0 and "note  paused: pay is paused by " in out and ": 1 of its tasks are due" in out, out)
    check("its task is no task without a worker", "ok    workers: all tasks that are due have a worker, or are of a paused handler" in out, out)
    check("nor due", " 0 tasks are due, 1 of paused handlers wait, 0 failed" in run("check", "--nagios")[1], run("check", "--nagios")[1])
    out = run("top", "--once")[1]
    check("in top neither", "due 0, oldest -  in hand" in out and "\npaused: 1 due\n" in out and re.search("^pay +1 +1 +paused ", out, re.M), out)
    check("pause another", run("pause", "idle")[0] == 0 and "idle is paused by " in run("check")[1] and run("resume", "idle")[0] == 0)
    check("resume", run("resume", "pay")[0] == 0)
    check("a needed worker", run("check", "--need-worker", "other")[0] == 9)
    check("limits", run("check", "--grace", "1d", "--nagios", "--max-age", "0,1d")[0] == 1
          and run("check", "--grace", "1d", "--max-failed", "0")[0] == 0)
    code, out, _ = run("check", "--nagios", TASKPOOL_DSN="Driver=SQLite3;Database=/nowhere/at/all.db")
    check("what cannot be checked is unknown", code == 3 and out.startswith("TASKPOOL UNKNOWN: "), f"{code} {out}")


def test_metrics():
    code, out, _ = run("metrics")
    sample = re.compile(r'^[a-z_]+(\{([a-z]+="([^"\\\n]|\\["\\n])*",?)+\})? -?[0-9.]+$')
    lines = out.splitlines()
    check("metrics", code == 0 and lines[-1] == "# EOF", out[-200:])
    bad = [line for line in lines if not line.startswith("# ") and not sample.match(line)]
    check("each line is a sample", not bad, bad)
    check("the open task", 'taskpool_open_tasks{handler="pay",state="pending"} 1' in lines, out)
    check("into a file", run("metrics", "--output", "pool.prom")[0] == 0 and os.listdir(".") == ["pool.prom"], os.listdir("."))
    check("a folder that is not there", run("metrics", "--output", "no/pool.prom")[0] == 74)


def test_gates():
    many = os.environ.get("TASKPOOL_TEST_ENTRY") == "sqlite"  # a program for each gate takes its time
    for gate in range(102 if many else 1):
        run("gate", "set", f"g{gate:03}", "--width", "2")
    run("gate", "set", "g000", "--tokens", "9", "--period", "1h")
    for gate in ["g000"] * 3 + (["g100", "g101"] if many else []):
        run("enqueue", "gated", "x", "--gate", gate)
    run("group", "open", "month")
    run("enqueue", "after", "x", "--after", "month")
    found = samples()
    check("a gate", [found[f'taskpool_gate_{what}{{gate="g000"}}'] for what in ("waiting_tasks", "open_tasks", "width", "tokens_left")] == [1, 2, 2, 7])
    if many:
        check("those above a hundred are one", found['taskpool_gate_open_tasks{gate="(others)"}'] == 2
              and 'taskpool_gate_width{gate="(others)"}' not in found and sum("open_tasks{gate" in name for name in found) == 101)
    check("groups", [found["taskpool_open_groups"], found["taskpool_group_waiting_tasks"]] == [1, 1])


def samples():
    """The value of each sample that is printed."""
    code, out, err = run("metrics")
    check("metrics are printed", code == 0 and out.endswith("# EOF\n"), err)
    return {name: float(value) for name, _, value in (line.rpartition(" ") for line in out.splitlines()) if not name.startswith("#")}


def test_counters():
    """What a worker did is counted, and nothing becomes less: but for the first minutes of every six hours, see
    tests/unit/test_counters.c."""
    if samples()["taskpool_clock_seconds"] % 21600 > 21500 or samples()["taskpool_clock_seconds"] % 21600 < 240:
        print("SKIPPED: counters are about to begin anew")
        return
    check("tasks", [run("enqueue", name, "1")[0] for name in ("counted", "refused")] == [0, 0])
    before = samples()
    work = ["--handler", "counted=/bin/true", "--handler", "refused=/bin/false", "--retry", "none", "--drain", "--quiet"]
    check("they are done and fail", run("work", *work)[0] == 8)
    after = samples()
    counted = [name for name in before if re.match("taskpool_(handled_total|(wait|run)_seconds_)", name)]
    check("counters only grow", counted and all(after[name] >= before[name] for name in counted))
    for handler, outcome in ("counted", "done"), ("refused", "gave_up"):
        name = f'taskpool_handled_total{{handler="{handler}",outcome="{outcome}"}}'
        check(name, (before[name], after[name]) == (0, 1), (before[name], after[name]))
    for time in "wait", "run":
        ends = [value for name, value in after.items() if name.startswith(f'taskpool_{time}_seconds_bucket{{handler="counted"')]
        check("each bucket has those before it", len(ends) == 10 and ends == sorted(ends), ends)
        check("the last has all", ends[-1] == 1 == after[f'taskpool_{time}_seconds_count{{handler="counted"}}'], ends)
    out = run("metrics")[1]
    check("a family without its samples' end", "\n# TYPE taskpool_handled counter\n" in out)
    check("for the collector", run("metrics", "--output", "pool.prom")[0] == 0)
    check("with it", "\n# TYPE taskpool_handled_total counter\n" in read("pool.prom"))


def test_workers():
    check("no workers", run("workers")[0] == 1)
    check("a worker", run("work", "--handler", "none=/bin/true", "--drain")[0] == 0)
    code, out, _ = run("workers", "--all", "--json")
    check("it has ended", code == 0 and json.loads(out)["state"] == "ended", out)


def test_oldest():
    task = run("enqueue", "slow", "1")[1].strip()
    slow = program("slow.sh", "while [ ! -e go ]; do sleep 0.05; done")
    worker = start("work", "--handler", f"slow={slow}", "--name", "busy")
    check("its task is shown", until(lambda: " slow" in run("workers")[1]), run("workers")[1])
    row = next(one for one in map(json.loads, run("workers", "--json")[1].splitlines()) if one["name"] == "busy")
    check("since when it is in progress", (row["oldest_task"], row["oldest_handler"]) == (task, "slow")
          and 0 < row["oldest_ms"] < 3600000 and row["oldest_claimed_at"] > 1600000000000, row)
    until(lambda: run("check", "--max-held", "0")[0] == 9)  # as above
    code, out, _ = run("check", "--max-held", "0")
    check("a task that is held for too long", code == 9 and "BAD   held: slow: busy on " in out and f" has held {task} for " in out, out)
    check("for a plugin a warning", run("check", "--grace", "1d", "--nagios", "--max-held", "0,1d")[0] == 1)
    check("not yet for too long", run("check", "--grace", "1d", "--max-held", "1d")[0] == 0)
    check("in the metrics, too", until(lambda: samples()['taskpool_longest_held_seconds{handler="slow"}'] > 0))
    with open("go", "w", encoding="utf-8"):
        pass
    check("it is done", until(lambda: listed("--pool", "finished", "--handler", "slow")))
    check("none is held", "ok    held: " in run("check", "--max-held", "0")[1] and samples()['taskpool_longest_held_seconds{handler="slow"}'] == 0)
    row = next(one for one in map(json.loads, run("workers", "--json")[1].splitlines()) if one["name"] == "busy")
    check("none is in progress then", row["oldest_task"] is None and row["oldest_ms"] is None, row)
    worker.send_signal(signal.SIGTERM)
    end(worker)
    os.remove("go")
    os.remove("slow.sh")


def test_drain():
    check("nobody to drain", run("workers", "drain", "nowhere")[0] == 1)
    check("no such word", run("workers", "pour")[0] == 2)
    check("a task", run("enqueue", "quick", "1")[0] == 0)
    worker = start("work", "--handler", "quick=/bin/true", "--name", "drained")
    check("it runs", until(lambda: "drained" in run("workers")[1]))
    check("its task is done", until(lambda: listed("--pool", "finished", "--handler", "quick")))
    code, out, err = run("workers", "drain", "drained")
    check("it has ended", code == 0 and out == "ended: 1\n", f"{code} {out}{err}")
    check("by itself", end(worker)[0] == 0)
    check("its row says so", any(one["name"] == "drained" and one["state"] == "ended" and one["drain_who"]
                                 for one in map(json.loads, run("workers", "--all", "--json")[1].splitlines())))
    out = run("metrics")[1]
    check("it is in the metrics", 'taskpool_run_seconds_count{handler="quick"} ' in out, out)
    check("how long tasks waited", run("check", "--grace", "1d", "--max-wait", "1d")[0] == 0 and run("check", "--max-wait", "0")[0] in (0, 9))
    check("top has it", "last 10 minutes: waits p50 " in run("top", "--once")[1])


def test_once():
    code, out, _ = run("top", "--once")
    check("top --once", code == 0 and "pay" in out and all(len(line) <= 80 for line in out.splitlines()), out)
    code, out, _ = run("top", "--once", "--json")
    check("as JSON", code == 0 and json.loads(out)["open"] == 1 and json.loads(out)["lapsed"] == 0, out)
    check("nobody works at it", "backlog does not shrink\n" in run("top", "--once")[1])
    check("no terminal", run("top")[0] == 2)


def foreground(terminal):
    """The process that the terminal's keys go to."""
    return os.tcgetpgrp(terminal.end)


def test_keys(terminal):
    terminal.run(f"{TASKPOOL} top --interval 200ms")
    terminal.shows(r"^taskpool top +.* sorted by due$")
    terminal.shows(r"^open 1  due 1, oldest ")
    terminal.shows(r"^pay +1 +1 ")
    terminal.type("s")
    terminal.shows("sorted by oldest$")
    terminal.type("h")
    terminal.shows(r"^up down PgUp PgDn +choose a row")
    terminal.type("\x1b")
    terminal.shows(r"^HANDLER +OPEN +DUE")
    terminal.type("\r")
    terminal.shows("^FAILED TASKS of pay: none")
    terminal.type("f")
    terminal.shows("^OPEN TASKS of pay$")
    terminal.shows(r"^[0-9a-f-]{36} pending +0")
    terminal.type("w")
    terminal.shows("^WORKER +STATE")
    terminal.type("\x7f")
    terminal.shows(r"^pay +1 +1 ")
    terminal.type("p")
    terminal.shows("PAUSED$")
    check("another task", run("enqueue", "other", "1")[0] == 0)
    terminal.type("p")
    terminal.shows(r"^other +1 +1 ")


def test_resize(terminal):
    for height, width in (5, 20), (1, 3), (40, 120), (24, 80):
        terminal.resize(height, width)
        if height > 20:
            terminal.shows(r"^pay +1 +1 ")
            check("no line is longer", len(terminal.text().splitlines()) <= height)


def test_stop_and_go(terminal):
    terminal.type("\x1a")
    terminal.shows(r"Stopped.*\n(.*\n)*ready>")
    terminal.forget()
    terminal.run("fg; echo code $?")
    terminal.shows("^taskpool top ")
    terminal.shows(r"^pay +1 +1 ")
    terminal.type("q")
    terminal.shows("^code 0")


def test_signals(terminal, flags):
    for number in signal.SIGTERM, signal.SIGHUP, signal.SIGINT:
        terminal.forget()
        terminal.run(f"{TASKPOOL} top --interval 200ms")
        terminal.shows("^taskpool top ")
        terminal.shows(r"^pay +1 +1 ")
        os.killpg(foreground(terminal), number)
        terminal.shows("^ready>")
        terminal.run("echo code $?")
        terminal.shows(f"code {128 + number}")
        check("the terminal is as before", terminal.flags() == flags, terminal.flags())


def test_outage():
    """The server is out of reach while top runs, and comes back: the last figures stay, and top goes on by itself."""
    port = re.search(r"Port=(\d+)", DSN)
    if not port:
        return  # the database is a file
    way = proxy.Proxy("127.0.0.1", int(port[1]))
    terminal = Terminal(dsn=DSN.replace(port[0], f"Port={way.port}"))
    terminal.shows("^ready>")
    terminal.run(f"{TASKPOOL} top --interval 100ms")
    terminal.shows(r"^pay +1 +1 ")
    way.refuse(True)
    way.cut()
    terminal.shows("^NO DATABASE, figures of before [0-9]+s: ")
    terminal.shows(r"^pay +1 +1 ")
    check("a task meanwhile", run("enqueue", "meanwhile", "1")[0] == 0)
    way.refuse(False)
    terminal.shows(r"^meanwhile +1 +1 ")
    check("it no longer says so", until(lambda: "NO DATABASE" not in terminal.text()), terminal.text())
    terminal.type("q")
    terminal.shows("^ready>")
    terminal.close()
    way.close()


def test_screen():
    terminal = Terminal()
    terminal.shows("^ready>")
    flags = terminal.flags()
    test_keys(terminal)
    test_resize(terminal)
    test_stop_and_go(terminal)
    check("the terminal is as before", terminal.flags() == flags, terminal.flags())
    test_signals(terminal, flags)
    terminal.resize(150, 60)
    terminal.run(TASKPOOL + " check --help")
    terminal.shows("^and when the pool is beyond the limits that the options set;$")
    terminal.shows("^warning, 2: critical, 3: could not be checked.$")
    terminal.resize(24, 80)
    terminal.run("TERM=nothing " + TASKPOOL + " top; echo code $?")
    terminal.shows("code 74")
    terminal.close()


def put_failed_by_sql(handler, reason):
    with sqlite3.connect(BASE.split("Database=")[1].split(";")[0], timeout=300) as rows:
        rows.execute(f"INSERT INTO {PREFIX}failed (id, handler, params, shard, priority, state, failures, reason, due_at, created_at, modified_at, settled_at) "
                     "VALUES (?, ?, '', 0, 0, 'failed', 1, ?, 1, 1, 1, 1)", (str(uuid.uuid4()), handler, reason))
    rows.close()


def pasted(commands):
    """What taskpool is given as arguments when these lines are pasted into a shell."""
    done = subprocess.run(["/bin/sh", "-ec", 'taskpool() { for one; do printf "<%s>" "$one"; done; }\n' + "\n".join(commands)],
                          capture_output=True, check=False)
    check("the shell takes them", done.returncode == 0 and not done.stderr, f"{commands}: {done}")
    return done.stdout.decode()


def test_paste():
    """The command that `failures` shows does what it says and no more, whatever somebody wrote into the tables."""
    for handler, reason in ("x; touch owned", "$(touch owned)"), ("-x'\n`touch owned`", "it's \x1b[2J'; touch owned"):
        put_failed_by_sql(handler, reason)
    out = run("failures", "--pool", "failed")[1]
    commands = [line.strip() for line in out.splitlines() if line.startswith("  taskpool retry ")]
    check("commands to paste", len(commands) >= 2 and "\x1b" not in out, out)
    for command in commands:
        said = pasted([command])
        check("is one command", re.fullmatch(r"<retry><--handler(=|><)[^>]*><--reason-like=[^>]*><--pool><failed>", said), f"{command}: {said}")
    check("nothing else was run", not os.path.exists("owned"))
    check("the other handler's name as it is", "<--handler=x; touch owned>" in pasted(commands), commands)


def test_why():
    """Why tasks fail, in groups: by top --once and on the screen; that they failed is a note of check."""
    check("tasks", [run("enqueue", "broken", "1")[0] for _ in range(2)] == [0, 0])
    check("fail", run("work", "--handler", "broken=/bin/false", "--retry", "none", "--drain", "--quiet")[0] == 8)
    code, out, _ = run("top", "--once")
    group = r"^ +2 +0 +(\d+m )?\d+s +broken +exit code 1$"
    check("top --once says why", code == 0 and "\nWhy tasks fail" in out and re.search(group, out, re.M), out)
    check("within 80 columns", all(len(line) <= 80 for line in out.splitlines()), out)
    groups = json.loads(run("top", "--once", "--json")[1])["failures"]
    check("as JSON", [one["count"] for one in groups if one["handler"] == "broken"] == [2], groups)
    code, out, _ = run("check", "--grace", "1d")
    check("failed tasks are a note", code == 0 and re.search(r"^note  failed: \d+ tasks are in the failed pool", out, re.M), out)
    check("and an alarm when they are too many", run("check", "--max-failed", "1")[0] == 9)
    terminal = Terminal()
    terminal.shows("^ready>")
    terminal.run(f"{TASKPOOL} top --interval 200ms")
    terminal.shows("^taskpool top ")
    terminal.type("e")
    terminal.shows("WHY TASKS FAIL$")
    terminal.shows(r"^ +2 +0 +(\d+m )?\d+s broken +exit code")
    while not re.search("^ +2 +0 ", terminal.text().splitlines()[8]):
        terminal.type("\x1b[B")
    terminal.type("\r")
    terminal.shows("^FAILED TASKS of broken, exit code 1$")
    terminal.shows(r"^[0-9a-f-]{36} failed +1 +exit code")
    terminal.type("\x7f")
    terminal.shows("WHY TASKS FAIL$")
    terminal.type("q")
    terminal.shows("^ready>")
    terminal.close()
    if SQLITE:
        test_paste()


def test_why_done():
    """Of what is done and could not be stored top warns as failures does."""
    check("tasks", [run("enqueue", "unstored", "1")[0] for _ in range(3)] == [0, 0, 0])
    known = program("unstored", "echo 'done, but the database refuses to store that: check 7' >&2; exit 1\n")
    check("fail", run("work", "--handler", f"unstored={known}", "--retry", "none", "--drain", "--quiet")[0] == 8)
    groups = json.loads(run("top", "--once", "--json")[1])["failures"]
    warnings = {one["handler"]: one["warning"] for one in groups}
    check("top warns of what is done", "a retry would do it again" in (warnings["unstored"] or ""), groups)
    check("and of nothing else", not warnings["broken"], groups)


def test():
    for one in (test_check, test_metrics, test_workers, test_oldest, test_drain, test_once, test_screen, test_outage, test_counters,
                test_why, test_why_done, test_gates):
        one()


if __name__ == "__main__":
    main(test)
