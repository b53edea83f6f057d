#!/usr/bin/env -S python3 -B
"""test_plain.py PATH_TO_TASKPOOL PATH_TO_EXAMPLES DIALECT [TASKS [KILLS]]: workers that run the statements of examples/sql beside a
worker of the library, on the pool of TASKPOOL_DSN. Some are killed at random; each task's effect is there exactly once.
Skipped where /usr/bin/python3 has no pyodbc."""
import os
import random
import signal
import subprocess
import sys
import time

from_cli = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli")
sys.path.insert(0, from_cli)
from pool import LIMIT_S, check, environment, listed, main, run  # noqa: E402

EXAMPLES, DIALECT = os.path.realpath(sys.argv[2]), sys.argv[3]
TASKS, KILLS = (int(text) for text in (sys.argv[4:] + ["60", "6"][len(sys.argv[4:]):]))
WORKER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples", "python", "plain_worker.py")
PYTHON = "/usr/bin/python3"
COUNT = """import os, pyodbc
for row in pyodbc.connect(os.environ["TASKPOOL_DSN"]).execute("SELECT task_id, points FROM example_points"):
    print(row[0].strip(), row[1])
"""


def start_plain():
    return subprocess.Popen([PYTHON, "-B", WORKER, DIALECT, "points", "--lease-ms", "3000", "--limit", "5"],
                            env=environment({}), stdout=subprocess.DEVNULL)


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
    library = subprocess.Popen([os.path.join(EXAMPLES, "worker")], env=environment({}), stdout=subprocess.DEVNULL)
    for number in range(KILLS):
        enqueue(TASKS // KILLS)
        time.sleep(random.uniform(0, 0.2))  # a process is really killed, at any instruction
        victim = number % len(plain)  # the oldest, which is sure to have begun
        plain[victim].send_signal(signal.SIGKILL)
        plain[victim].wait()
        plain[victim] = start_plain()
    limit = time.monotonic() + LIMIT_S
    while listed("--pool", "pending") and time.monotonic() < limit:
        time.sleep(0.05)
    end([*plain, library])
    check("none is open", not listed("--pool", "pending"), listed("--pool", "pending")[:3])
    finished = listed("--pool", "finished")
    ids = {task["id"] for task in finished}
    check("all are done", len(ids) == TASKS // KILLS * KILLS, len(ids))
    print(f"{KILLS} killed, {sum(task['failures'] > 0 for task in finished)} tasks whose lease lapsed")
    check("each effect is there once", effects(ids) == sorted(ids), f"{len(effects(ids))} effects of {len(ids)} tasks")
    # A task that was done at its first try was due when it was put in; the lease's end is forgotten.
    late = [task for task in finished if not task["failures"] and task["due_at"] != task["created_at"]]
    check("due_at says since when it was due", not late, late[:1])
    code, out, err = run("check")
    check("taskpool check", code == 0, out + err)


def test():
    worker = subprocess.Popen([os.path.join(EXAMPLES, "worker")], env=environment({}))  # makes the table of effects
    time.sleep(1)
    worker.terminate()
    worker.wait()
    crowd()


if subprocess.run([PYTHON, "-c", "import pyodbc"], stderr=subprocess.DEVNULL, check=False).returncode != 0:
    print("SKIPPED: python3-pyodbc is not installed (tools/install_packages.sh)")
    sys.exit(77)
main(test)
