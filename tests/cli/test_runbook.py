#!/usr/bin/env -S python3 -B
"""test_runbook.py PATH_TO_TASKPOOL: docs/operating.md as a runbook. For each of its symptoms a pool is made that has it,
and the commands of the page, taken from it, are run there. Each line of output that the page shows must come, and the
exit code (0, where none is shown). On SQLite only, each symptom in a file of its own.

Ids of the page stand for the task of the symptom. A line that begins with SELECT must give rows."""
import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

import shown

TASKPOOL = os.path.realpath(sys.argv[1])
PAGE = os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "..", "docs", "operating.md")
LIMIT_S = 300  # for what hangs
DAY_MS = 86400000
failed = passed = 0


def check(name, good, what=""):
    global failed, passed
    passed += bool(good)
    failed += not good
    if not good:
        print(f"not ok - {name}: {what}", flush=True)


# ---- The page

def sections():
    """Of the part `Symptoms`: title and lines of its indented blocks."""
    with open(PAGE, encoding="utf-8") as file:
        text = file.read()
    text = text[text.index("\n# Symptoms\n"):text.index("\n# Alarms\n")]
    for part in text.split("\n## ")[1:]:
        title, _, body = part.partition("\n")
        yield title, [line[4:] for line in body.splitlines() if line.startswith("    ")]


def steps(block):
    """[command or query, lines of output, exit code]"""
    found = []
    for line in block:
        code = re.fullmatch(r"\(exit code (\d+)\)", line)
        if line.startswith("$ "):
            found.append([line[2:], [], 0])
        elif line.startswith("SELECT "):
            found.append([line, [], None])
        elif code:
            found[-1][2] = int(code[1])
        else:
            found[-1][1].append(line)
    return found


# ---- A pool with a symptom

class Pool:
    def __init__(self):
        self.folder = tempfile.TemporaryDirectory()
        self.file = os.path.join(self.folder.name, "pool.db")
        self.workers, self.id, self.around = [], None, []
        self.env = {**os.environ, "PATH": os.path.dirname(TASKPOOL) + ":" + os.environ["PATH"], "HOME": self.folder.name}
        self.connect_to(self.file)
        self.run("schema", "install")
        for name, text in PROGRAMS.items():
            with open(os.path.join(self.folder.name, name), "w", encoding="utf-8") as file:
                file.write("#!/bin/sh\n" + text)
            os.chmod(file.name, 0o755)

    def connect_to(self, file):
        self.env["TASKPOOL_DSN"] = re.sub(r"Database=[^;]*", "Database=" + file, os.environ["TASKPOOL_DSN"])

    def run(self, *args, text=None, codes=(0,)):
        done = subprocess.run([TASKPOOL, *args], input=text, capture_output=True, text=True, env=self.env,
                              cwd=self.folder.name, timeout=LIMIT_S, check=False)
        check(f"set up: {args}", done.returncode in codes, f"{done.returncode} {done.stderr}")
        return done.stdout

    def put(self, handler, params="{}", *args):
        self.id = self.run("enqueue", handler, params, *args).strip()
        return self.id

    def drain(self, handler, program, *args):
        self.run("work", "--handler", f"{handler}={program}", "--drain", *args, codes=(0, 8))

    def work(self, handler, program, *args):
        """In the background, until its task is in progress."""
        with open(os.path.join(self.folder.name, "log"), "w", encoding="utf-8") as log:
            self.workers.append(subprocess.Popen([TASKPOOL, "work", "--handler", f"{handler}={program}", *args],
                                                 env=self.env, cwd=self.folder.name, stdout=log, stderr=log))
        self.until("it is in progress", lambda: os.path.exists(os.path.join(self.folder.name, "begun")))
        return self.workers[-1]

    def until(self, name, condition):
        limit = time.monotonic() + LIMIT_S
        while not condition() and time.monotonic() < limit:
            time.sleep(0.05)
        check(name, condition(), "not in time")

    def query(self, text):
        with sqlite3.connect(self.file, timeout=LIMIT_S) as database:
            rows = database.execute(text).fetchall()
        database.close()
        return rows

    def log(self):
        with open(os.path.join(self.folder.name, "log"), encoding="utf-8") as file:
            return file.read()

    def let_go(self):
        with open(os.path.join(self.folder.name, "go"), "w", encoding="utf-8"):
            pass

    def close(self):
        self.let_go()
        for worker in self.workers:
            if worker.poll() is None:
                worker.send_signal(signal.SIGTERM)
            try:
                worker.wait(LIMIT_S)
            except subprocess.TimeoutExpired:
                worker.kill()
                worker.wait()
        self.folder.cleanup()


PROGRAMS = {
    "refused": 'echo "host 10.0.0.7: connection refused" >&2\nexit 1\n',
    "second": 'if [ "$TASKPOOL_FAILURES" = 0 ]; then echo "connection refused" >&2; exit 1; fi\n',
    "waits": 'touch begun\nwhile [ -d . ] && [ ! -e go ]; do sleep 0.05; done\n',
}


# ---- The symptoms

def tasks_fail(pool):
    for _ in range(3):
        pool.put("pay")
    pool.drain("pay", "./refused", "--retry", "none")


def backlog(pool):
    """Ids that do not say when they were made: what was put in is not counted as lately."""
    rows = "".join(f"ffffffff-ffff-4fff-bfff-{i:012},mail,{int(i >= 30)}\n" for i in range(40))
    pool.run("enqueue", "--file", "-", text="id,handler,shard\n" + rows)
    pool.query("UPDATE tp_pending SET due_at = due_at - 120000 WHERE shard = 1")
    pool.drain("mail", "/bin/true", "--shard", "0")


def in_progress(pool):
    pool.put("pay")
    pool.work("pay", "./waits", "--name", "pay-1")


def customer(pool):
    pool.put("pay", "{}", "--biz-key", "C-17")
    pool.drain("pay", "./second", "--retry", "none")
    pool.put("mail", "{}", "--biz-key", "C-17")
    pool.drain("mail", "/bin/true")
    pool.put("print", "{}", "--biz-key", "C-17")


def life(pool):
    pool.put("pay")
    pool.drain("pay", "./second", "--retry", "10ms")


def all_dead(pool):
    """Killed ten minutes ago."""
    for _ in range(6):
        pool.put("mail")
    worker = pool.work("mail", "./waits", "--name", "mail-1")
    pool.until("all are held", lambda: pool.query("SELECT 1 FROM tp_pending WHERE state = 'handling'")[5:])
    worker.kill()
    worker.wait()
    pool.let_go()
    pool.query("UPDATE tp_worker SET seen_at = seen_at - 600000")
    pool.query("UPDATE tp_pending SET due_at = due_at - 600000")


def paused(pool):
    pool.put("pay")
    pool.query("UPDATE tp_pending SET due_at = due_at - 600000")


def asked(pool):
    for _ in range(3):
        pool.put("pay")
    pool.drain("pay", "./refused", "--retry", "none")
    pool.run("four-eyes", "on")
    pool.run("retry", "--handler", "pay", "--why", "the bank is back", "--who", "ann@db1", codes=(13,))
    pool.id = json.loads(pool.run("requests", "--json"))["request"]
    said = pool.run("check", codes=(0, 9))
    check("check says that it waits", "note  requests: 1 request has waited for a second person for " in said, said)
    said = pool.run("metrics")
    check("metrics, too", re.search(r"\ntaskpool_waiting_requests\S* 1\n", said) and re.search(r"\ntaskpool_oldest_request_seconds\S* \d", said), said)


def stopping(pool):
    in_progress(pool)
    pool.workers[0].send_signal(signal.SIGTERM)
    pool.until("it is stopping", lambda: pool.query("SELECT 1 FROM tp_worker WHERE state = 'stopping'"))


def busy_host(pool):
    """Its task ends while the workers are asked."""
    in_progress(pool)
    pool.let_go()


def lost(pool):
    in_progress(pool)
    pool.run("release", "--id", pool.id, "--why", "hangs")
    pool.until("it is lost", lambda: " lost " in pool.log())
    pool.let_go()
    pool.workers[0].send_signal(signal.SIGTERM)
    check("the worker ends", pool.workers[0].wait(LIMIT_S) == 0)


def wrong_data(pool):
    pool.put("pay", '{"amount":"12,50"}')
    pool.drain("pay", "./refused", "--retry", "none")
    with open(os.path.join(pool.folder.name, "corrected.json"), "w", encoding="utf-8") as file:
        file.write('{"amount":12.50}')


def person(pool):
    pool.put("mail", "{}", "--biz-key", "C-17")
    pool.drain("mail", "/bin/true")
    pool.put("mail", "{}", "--biz-key", "C-17")


def away(pool):
    pool.connect_to("/nowhere/at/all.db")


def full(pool):
    """Each command in a mount namespace, with the pool on a file system that has no room for the file."""
    with open(os.path.join(pool.folder.name, "tasks.csv"), "w", encoding="utf-8") as file:
        file.write("handler,params\n" + ("pay," + "x" * 1000 + "\n") * 2000)
    os.mkdir(os.path.join(pool.folder.name, "disk"))
    pool.connect_to(os.path.join(pool.folder.name, "disk", "pool.db"))
    pool.around = ["unshare", "--mount"] + ([] if os.getuid() == 0 else ["--map-root-user"]) + [
        "sh", "-c", 'mount -t tmpfs -o size=1m tmpfs disk && cp pool.db disk/ && sh -c "$1"', "sh"]
    if subprocess.run(pool.around + ["true"], cwd=pool.folder.name, capture_output=True, check=False).returncode:
        print("SKIPPED: no file system may be mounted here: The disk is full")
        return False
    return True


def stands_still(pool):
    pool.run("gate", "set", "bank", "--width", "0")
    pool.put("transfer", "{}", "--gate", "bank")
    pool.run("group", "open", "payroll-11")
    pool.put("pay", "{}", "--group", "payroll-11")
    pool.put("report", "{}", "--after", "payroll-11")
    pool.run("group", "close", "payroll-11")
    pool.drain("pay", "./refused", "--retry", "none")


def too_late(pool):
    pool.put("newsletter")
    pool.put("newsletter")
    pool.query(f"UPDATE tp_pending SET modified_at = modified_at - {3 * DAY_MS}")
    pool.put("newsletter")


def grows(pool):
    for _ in range(3):
        pool.put("mail")
    pool.drain("mail", "/bin/true")
    pool.query(f"UPDATE tp_finished SET settled_at = settled_at - {100 * DAY_MS} WHERE id <> '{pool.id}'")


def by_hand(pool):
    pool.put("pay")
    pool.query("UPDATE tp_pending SET priority = 1.5")


SYMPTOMS = {
    "Tasks fail": tasks_fail,
    "An act waits for a second person": asked,
    "How fast does it go, and when is the backlog empty": backlog,
    "Who holds a task": in_progress,
    "Which workers are there": in_progress,
    "Where is a customer's task": customer,
    "What did one task go through": life,
    "No worker takes the tasks": all_dead,
    "A handler is paused": paused,
    "A task hangs": in_progress,
    "A worker does not end after SIGTERM": stopping,
    "A host must be emptied": busy_host,
    "A worker loses its claims": lost,
    "Wrong data in params": wrong_data,
    "Erase a person": person,
    "The database is away": away,
    "The disk is full": full,
    "A gate or a group does not go on": stands_still,
    "Tasks are too late to be of use": too_late,
    "A pool grows": grows,
    "Rows that somebody changed by hand": by_hand,
}


def run_step(title, pool, command, lines, expected):
    if expected is None:
        check(f"{title}: {command}", pool.query(command), "no rows")
        return
    command = re.sub(shown.ID, pool.id or "-", command)
    done = subprocess.run([*(pool.around or ["sh", "-c"]), command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, stdin=subprocess.DEVNULL, env=pool.env, cwd=pool.folder.name, timeout=LIMIT_S, check=False)
    check(f"{title}: exit code of {command}", done.returncode == expected, f"{done.returncode}\n{done.stdout}")
    for line in filter(str.strip, lines):
        check(f"{title}: {command}: {line}", not shown.absent([line], done.stdout), "\n" + done.stdout)


def main():
    titles = []
    for title, block in sections():
        titles.append(title)
        if title not in SYMPTOMS:
            continue
        pool = Pool()
        try:
            if SYMPTOMS[title](pool) is False:
                continue
            found = steps(block)
            check(f"{title} has commands", found)
            for command, lines, code in found:
                run_step(title, pool, command, lines, code)
        finally:
            pool.close()
    check("each section of the page is a symptom here", titles == list(SYMPTOMS), titles)
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed != 0)


main()
