#!/usr/bin/env -S python3 -B
"""test_plain.py PATH_TO_TASKPOOL PATH_TO_EXAMPLES DIALECT LANGUAGE [TASKS [KILLS]]: workers that run the statements of examples/sql,
in that language, beside a worker of the library, on the pool of TASKPOOL_DSN. Some are killed at random; each task's effect is there
exactly once, also where commits get no answer. Skipped, with a word, where what the language needs is not there."""
import os
import random
import re
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "cli"), os.path.join(HERE, "..", "..", "tools", "soak")]
import proxy as network  # noqa: E402
from languages import LANGUAGES, PYTHON, Python  # noqa: E402
from pool import DSN, LIMIT_S, PREFIX, check, environment, listed, main, run, until  # noqa: E402

EXAMPLES, DIALECT, LANGUAGE = os.path.realpath(sys.argv[2]), sys.argv[3], sys.argv[4]
TASKS, KILLS = (int(text) for text in (sys.argv[5:] + ["60", "6"][len(sys.argv[5:]):]))
COUNT = """import os, pyodbc
for row in pyodbc.connect(os.environ["TASKPOOL_DSN"]).execute("SELECT task_id, points FROM example_points"):
    print(row[0].strip(), row[1])
"""
UNWANTED = """import os, sys, pyodbc
dbc = pyodbc.connect(os.environ["TASKPOOL_DSN"], autocommit=True)
for key, age in ("cancelled", 0), ("earlier", 1):
    dbc.execute(f"INSERT INTO {sys.argv[1]}cancel (task_id, due_at, who, created_at)"
                f" SELECT id, 0, 'ann', created_at - {age} FROM {sys.argv[1]}pending WHERE biz_key = '{key}'")
"""
UUID = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
worker = LANGUAGES[LANGUAGE](DIALECT, DSN, PREFIX)


def start_plain(*more):
    return subprocess.Popen([*worker.command, "points", "--lease-ms", "3000", "--limit", "5", *more], env=environment(worker.environment),
                            stdout=subprocess.DEVNULL)


def can_count():
    return subprocess.run([PYTHON, "-c", COUNT], env=environment({}), capture_output=True, check=False).returncode == 0


def effects(ids):
    done = subprocess.run([PYTHON, "-c", COUNT], env=environment({}), capture_output=True, text=True, check=True)
    return sorted(pair[0] for pair in map(str.split, done.stdout.splitlines()) if pair[0] in ids)


def end(processes):
    for process in processes:
        process.kill()
        process.wait()


def enqueue(count):
    rows = "handler,params,max_failures\n" + "".join(f"points,{number},1000\n" for number in range(1, count + 1))
    code, _, err = run("enqueue", "--file", "-", text=rows.encode())
    check("enqueue", code == 0, err)


def crowd():
    plain = [start_plain() for _ in range(3)]
    library = []  # the second half beside it, so that in the first it cannot be the one that does all
    for number in range(KILLS):
        if number == KILLS // 2:
            library = [subprocess.Popen([os.path.join(EXAMPLES, "worker")], env=environment({}), stdout=subprocess.DEVNULL)]
        enqueue(TASKS // KILLS)
        if not library:
            check("plain workers do something", until(lambda: listed("--pool", "finished", "--limit", str(number + 1))[number:]))
        time.sleep(random.uniform(0, 0.2))  # a process is really killed, at any instruction
        victim = number % len(plain)  # the oldest, which is sure to have begun
        plain[victim].send_signal(signal.SIGKILL)
        plain[victim].wait()
        plain[victim] = start_plain()
    limit = time.monotonic() + LIMIT_S
    while listed("--pool", "pending") and time.monotonic() < limit:
        time.sleep(0.05)
    end([*plain, *library])
    check("none is open", not listed("--pool", "pending"), listed("--pool", "pending")[:3])
    finished = listed("--pool", "finished")
    ids = {task["id"] for task in finished}
    check("all are done", len(ids) == TASKS // KILLS * KILLS, len(ids))
    plainly = sum(task["owner"][14] == "4" for task in finished)  # the library's tokens are UUIDs of version 7
    check("plain workers did some", plainly > 0)
    print(f"{KILLS} killed, {sum(task['failures'] > 0 for task in finished)} tasks whose lease lapsed, {plainly} done by plain SQL")
    check("each effect is there once", effects(ids) == sorted(ids), f"{len(effects(ids))} effects of {len(ids)} tasks")
    # A task that was done at its first try was due when it was put in; the lease's end is forgotten.
    late = [task for task in finished if not task["failures"] and task["due_at"] != task["created_at"]]
    check("due_at says since when it was due", not late, late[:1])
    code, out, err = run("check")
    check("taskpool check", code == 0, out + err)


def lose(through, dsn, count, shots, after):
    """A worker alone behind the proxy, whose commits after such a statement are met by the shots, in their order. The ids of the
    tasks that it reports, and of those that it leaves open. The lease does not end meanwhile."""
    behind = LANGUAGES[LANGUAGE](DIALECT, dsn, PREFIX)
    enqueue(count)
    through.aim(rb"^\s*commit", shots, after)
    done = subprocess.run([*behind.command, "points", "--lease-ms", "3600000", "--limit", "2", "--drain"], capture_output=True, text=True,
                          timeout=LIMIT_S, check=False, env=environment({**behind.environment, "TASKPOOL_DSN": dsn}))
    check("it goes on when commits are lost", done.returncode == 0, done.stderr)
    hits = through.hits(len(shots), 0)
    check("each shot hit", hits == sum(shot is not None for shot in shots), hits)
    open_ids = {task["id"] for task in listed("--pool", "pending")}
    return set(re.findall(UUID, done.stdout)), open_ids


def lost_commits():
    """The answers of commits that are done are taken away, and commits are not done: of each kind, one after the other."""
    server = re.search(r"Port=(\d+)", DSN)
    if not server:
        return  # SQLite is in the process
    through = network.Proxy("127.0.0.1", int(server.group(1)))
    dsn = re.sub(r"(Server|Port)=[^;]*", lambda key: f"{key[1]}={'127.0.0.1' if key[1] == 'Server' else through.port}", DSN)
    before = {task["id"] for task in listed("--pool", "finished")}
    shots = [network.ANSWER_LOST, network.NOT_SENT, None] * 2
    reported, left = lose(through, dsn, 4, shots, rb"wanted_at = ")
    check("a claim whose commit got no answer is found by its token", not reported and not left, (reported, left))
    reported, left = lose(through, dsn, 8, shots, rb"example_points")
    check("a settle is asked for: what was not done is left to its lease", reported == left and len(left) == 2, (reported, left))
    check("release", run("release", "--handler", "points")[0] == 0)
    check("the rest is done", start_plain("--drain").wait(timeout=LIMIT_S) == 0)
    through.close()
    ids = {task["id"] for task in listed("--pool", "finished")} - before
    check("all are done, though commits were lost", len(ids) == 12 and not listed("--pool", "pending"), len(ids))
    check("each of their effects is there once", effects(ids) == sorted(ids), f"{len(effects(ids))} effects of {len(ids)} tasks")


def failures():
    """One that no retry can mend, one that is tried again."""
    for number, tries in enumerate(("1", "0")):
        code, _, err = run("enqueue", "points", "many", "--biz-key", f"wrong-{number}", "--max-failures", tries)
        check("enqueue", code == 0, err)
    check("enqueue", run("enqueue", "--file", "-", text=b"handler,biz_key,max_failures\npoints,none,1\n")[0] == 0)
    check("a worker alone", start_plain("--drain").wait(timeout=LIMIT_S) == 0)
    found = [(task["pool"], task["biz_key"], task["failures"], task["due_at"] > task["created_at"])
             for pool in ("pending", "failed") for task in listed("--pool", pool)]
    check("failures", sorted(found) == [("failed", "none", 1, False), ("failed", "wrong-0", 1, False), ("pending", "wrong-1", 1, True)], found)
    code, out, _ = run("history", "--json")
    check("their history", code == 0 and out.count('"event":"gave-up"') == 2 and out.count('"event":"failed"') == 1, out)


def unwanted():
    """Tasks that are most urgent, but cancelled, or past their deadline: they are left to the library, which skips them. A cancel of
    an earlier task with the same id is not about this one."""
    check("no other is open", run("skip", "--biz-key", "wrong-1", "--why", "enough")[0] == 0)
    for key, *more in (("cancelled", "--priority", "-2"), ("late", "--priority", "-1", "--deadline", "2024-02-29T12:00:00Z"), ("earlier",), ("wanted",)):
        code, _, err = run("enqueue", "points", "1", "--biz-key", key, *more)
        check("enqueue", code == 0, err)
    subprocess.run([PYTHON, "-c", UNWANTED, PREFIX], env=environment({}), check=True)
    check("a worker alone", start_plain("--drain").wait(timeout=LIMIT_S) == 0)
    keys = {"cancelled", "late", "earlier", "wanted"}
    ended = {task["biz_key"]: task for task in listed("--pool", "finished") if task["biz_key"] in keys}
    check("what is wanted is done", set(ended) == {"earlier", "wanted"}, set(ended))
    ids = {task["id"] for task in ended.values()}
    check("with its effect", effects(ids) == sorted(ids), effects(ids))
    code, out, err = run("work", "--handler", "points=/bin/false", "--retry", "none", "--drain")
    check("a worker of the library", code == 0, out + err)
    ended = {task["biz_key"]: task["state"] for task in listed("--pool", "finished") if task["biz_key"] in keys}
    check("it skips the others", ended == {"cancelled": "skipped", "late": "skipped", "earlier": "done", "wanted": "done"}, ended)


def elsewhere():
    """The generic dialect takes the clock from the session: one of another time zone is refused."""
    if (DIALECT, LANGUAGE) != ("postgres", "python"):
        return
    zone = {"TASKPOOL_DSN": DSN + ";ConnSettings={SET TIME ZONE 'Asia/Tokyo'}"}
    done = subprocess.run([*worker.command[:-1], "generic", "points", "--drain"], env=environment(zone), capture_output=True,
                          text=True, timeout=LIMIT_S, check=False)
    check("another time zone is refused", done.returncode == 1 and "time zone is not UTC" in done.stderr, done.stdout + done.stderr)


def test():
    library = subprocess.Popen([os.path.join(EXAMPLES, "worker")], env=environment({}))
    check("the library's worker makes the table of effects", until(can_count))
    library.terminate()
    library.wait()
    crowd()
    lost_commits()
    failures()
    unwanted()
    elsewhere()


missing = worker.missing or Python.missing  # which counts the effects
if missing and LANGUAGE in ("python", "perl") and os.environ.get("TASKPOOL_TEST_REQUIRE") == "1":
    sys.exit(f"FAILED: {missing}; run tools/install_packages.sh")
if missing:
    print(f"SKIPPED: the worker in {LANGUAGE} was not run: {missing}")
    sys.exit(77)
main(test)
