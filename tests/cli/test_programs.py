#!/usr/bin/env -S python3 -B
"""test_programs.py PATH_TO_TASKPOOL PATH_TO_LIBTP_HABITS: how handler programs are ended, waited for, and kept from what is the worker's, on the
database of TASKPOOL_DSN. Needs no more than Python's own library, util-linux for some, and /proc."""
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys

from pool import (BASE, DSN, LIMIT_S, SQLITE, TASKPOOL, at_once, check, environment, listed, main, program, read, run, shown,
                  until)

HABITS = os.path.realpath(sys.argv[2])
OVER = os.path.join(os.path.dirname(os.path.realpath(__file__)), "../../tools/driver/over.sh")


def python_program(name, text):
    program(name, "import os, signal, subprocess, sys, time\n" + text, "/usr/bin/env -S python3 -B")


def numbers(name):
    return [int(word) for word in read(name).split()]


def processes():
    """pid: (state, parent)"""
    found = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat", encoding="ascii", errors="replace") as file:
                state, parent = file.read().rpartition(")")[2].split()[:2]
        except OSError:
            continue
        found[int(name)] = state, int(parent)
    return found


def is_gone(pid):
    return processes().get(pid, "X")[0] in "ZX"


def enqueue(handler):
    code, out, err = run("enqueue", handler, "x")
    check("enqueue", code == 0, err)
    return out.strip()


def begin_work(handler, *args, before=(), folder=".", dsn=DSN):
    """A worker in that folder, where its words are in the file err, with the program of that name."""
    for name in ("begun", "err", "out"):
        if os.path.exists(f"{folder}/{name}"):
            os.remove(f"{folder}/{name}")
    with open(f"{folder}/out", "w", encoding="utf-8") as out, open(f"{folder}/err", "w", encoding="utf-8") as err:
        return subprocess.Popen([*before, TASKPOOL, "work", f"--handler={handler}={os.getcwd()}/./{handler}", "--poll=50ms", *args],
                                stdin=subprocess.DEVNULL, stdout=out, stderr=err, env=environment({"TASKPOOL_DSN": dsn}), cwd=folder)


def await_end(worker, folder="."):
    """What it said last; a worker that hangs is killed."""
    try:
        worker.wait(LIMIT_S)
    except subprocess.TimeoutExpired:
        worker.kill()
        return f"it hangs; {read(folder + '/err')}"
    return read(folder + "/out")


def lost_meanwhile(name):
    """A worker runs a task, and its claim is taken away. The program is ended, and settles nothing."""
    folder = f"{name}.d"
    os.mkdir(folder)
    task = enqueue(name)
    worker = begin_work(name, "--lease=1m", folder=folder)

    def said():
        return read(f"{folder}/err")

    def says_waiting():
        return worker.poll() is not None or "waiting" in said()

    check(f"{name}: the program runs", until(lambda: numbers(f"{folder}/begun")), said())
    pid = numbers(f"{folder}/begun")[0]
    if name == "stopping":
        worker.send_signal(signal.SIGTERM)
        check(f"{name}: it says so", until(says_waiting), said())
    code, _, err = run("release", "--id", task, "--why", "taken away")
    check(f"{name}: taken away", code == 0, err)
    ended = until(lambda: is_gone(pid))
    check(f"{name}: the program is ended", ended, said())
    if not ended:
        os.kill(pid, signal.SIGKILL)
    if name == "working":  # by now it may run the task again
        worker.send_signal(signal.SIGTERM)
        until(says_waiting)
        worker.send_signal(signal.SIGTERM)
    check(f"{name}: the claim counts as lost", "lost 1" in await_end(worker, folder), read(f"{folder}/out"))
    task = shown(task)
    check(f"{name}: the task waits for another", (task["state"], task["failures"]) == ("pending", 0), task)


def test_lost_claims():
    """A claim that is lost ends the program: while the worker works, and while it stops. That is seen when the lease is extended
    next, a third of a minute later."""
    for name in "working", "stopping":
        python_program(name, "print(os.getpid(), file=open('begun', 'w'), flush=True)\ntime.sleep(600)\n")
    at_once(lambda: lost_meanwhile("working"), lambda: lost_meanwhile("stopping"))


def test_unstored():
    """What a program has done cannot be stored when the worker ends: it says so, and does not end as if all were well."""
    if not SQLITE:
        return
    python_program("unheard", "print(os.getpid(), file=open('begun', 'w'), flush=True)\n"
                              "while not os.path.exists('go'): time.sleep(0.02)\n")
    task = enqueue("unheard")
    worker = begin_work("unheard", dsn=DSN.replace("Timeout=60000", "Timeout=1000"))
    check("a program runs", until(lambda: numbers("begun")), read("err"))
    file = sqlite3.connect(BASE.partition("Database=")[2].partition(";")[0], isolation_level=None, timeout=LIMIT_S)
    file.execute("BEGIN IMMEDIATE")
    open("go", "w", encoding="ascii").close()
    worker.send_signal(signal.SIGTERM)
    await_end(worker)
    file.execute("ROLLBACK")
    file.close()
    check("exit code 4", worker.returncode == 4, f"{worker.returncode}: {read('err')}")
    check("it says how many", "what became of 1 task could not be stored" in read("err"), read("err"))
    check("it says that it is done", "it is done, but no answer says that this is stored, so it may be done again" in read("err"), read("err"))
    check("it says what to cancel", "One that is done, as its error says, and still open" in read("err"), read("err"))
    check("the task is in hand still", shown(task)["state"] == "handling", shown(task))
    os.remove("go")
    run("release", "--id", task, "--why", "its worker has ended")
    run("skip", "--id", task)


def test_waiting():
    """A worker that stops says for what it waits: at the signal, and now and then."""
    python_program("patient", "print(os.getpid(), file=open('begun', 'w'), flush=True)\n"
                              "while not os.path.exists('go'): time.sleep(0.02)\n")
    for form in ("", "--json"):
        task = enqueue("patient")
        worker = begin_work("patient", *filter(None, [form]))
        check("a program runs", until(lambda: numbers("begun")), read("err"))
        pid = numbers("begun")[0]
        said = "out" if form else "err"
        check("nothing is said before", "waiting" not in read(said), read(said))
        worker.send_signal(signal.SIGTERM)
        times = 1 if form else 2
        check(f"said {times} times", until(lambda: read(said).count("waiting") >= times), read(said))
        with open("go", "w", encoding="utf-8"):
            pass
        await_end(worker)
        os.remove("go")
        line = next((line for line in read(said).splitlines() if "waiting" in line), "{}")
        for word in (task, "patient", f"{os.getcwd()}/./patient", f"process {pid}", "since 20"):
            check(f"it names {word}", word in line, line)
        if form:
            check("an event like others", json.loads(line).get("event") == "waiting", line)
        check("its task is done", shown(task)["state"] == "done", read("err"))
        sums = [line for line in read(said).splitlines() if "stopping" in line]
        if form:
            told = json.loads(sums[0])
            check("how many run is said", (told["running"], told["handlers"], told["until"]) == (1, {"patient": 1}, None), sums)
        else:
            check("how many run is said", sums[0].endswith(
                " stopping 1 program is still running: patient 1; however long they take (no --stop-after)"), sums)
    task = enqueue("patient")
    worker = begin_work("patient", "--stop-after=10m")
    check("a program runs", until(lambda: numbers("begun")), read("err"))
    worker.send_signal(signal.SIGTERM)
    check("until when is said", until(lambda: "still running: patient 1; ended at 20" in read("err")), read("err"))
    worker.send_signal(signal.SIGTERM)
    await_end(worker)
    run("skip", "--id", task)


def test_timeout_reaches_all():
    """--timeout ends a program that left its process group, and what it started, wherever that went."""
    leave = "os.setpgid(0, os.getpgid(os.getppid()))\n"
    python_program("leaver", leave + "print(os.getpid(), file=open('begun', 'w'), flush=True)\ntime.sleep(40)\n")
    for timeout in "300ms", "3s", "30s":  # a busy machine may not get so far in time
        task = enqueue("leaver")
        await_end(begin_work("leaver", f"--timeout={timeout}", "--retry=none", "--drain"))
        if numbers("begun"):
            break
    check("a program in another group is ended", shown(task)["state"] == "failed", shown(task))
    check("for its time", str(shown(task)["reason"]).startswith("timed out after"), shown(task))
    check("and is gone", is_gone(numbers("begun")[0]), read("err"))

    # One in a session of its own, one that was orphaned besides, one without the environment; none minds SIGTERM.
    python_program("sitter", "signal.signal(signal.SIGTERM, signal.SIG_IGN)\nos.setsid()\n"
                             "print(os.getpid(), file=open('begun', 'a'), flush=True)\ntime.sleep(600)\n")
    python_program("starter", "home = os.getcwd()\nsubprocess.Popen(['./sitter'])\n"
                              "subprocess.Popen(['./sitter'], env={'PATH': os.environ['PATH']})\n"
                              "if os.fork() == 0:\n    if os.fork() == 0: os.execv('./sitter', ['./sitter'])\n    os._exit(0)\n"
                              "os.wait()\ntime.sleep(600)\n")
    task = enqueue("starter")
    os.remove("begun")
    worker = begin_work("starter", "--retry=none")
    check("three are started", until(lambda: len(numbers("begun")) == 3), read("err"))
    worker.send_signal(signal.SIGTERM)
    check("the worker waits", until(lambda: "waiting" in read("err")), read("err"))
    worker.send_signal(signal.SIGTERM)
    await_end(worker)
    gone = until(lambda: all(is_gone(pid) for pid in numbers("begun")))
    check("a stop ends them all", gone, read("err"))
    for pid in numbers("begun"):
        if not is_gone(pid):
            os.kill(pid, signal.SIGKILL)
    task = shown(task)
    check("the task is put back", (task["state"], task["failures"]) == ("pending", 0), task)
    run("skip", "--id", task["id"])


def begun(task):
    return numbers(f"begun-{task}")


def enqueue_late(handler):
    """A task that is begun before its deadline, and runs when that passes: on a busy machine the first may be too late."""
    for seconds in (2, 4, 8, 16, 32, 64):
        code, out, err = run("enqueue", handler, "x", f"--deadline={seconds}s")
        check("enqueue --deadline", code == 0, err)
        task = out.strip()
        until(lambda: begun(task) or shown(task)["pool"] == "finished")
        if begun(task):
            break
    check(f"{handler}: begun before its deadline", begun(task), read("err"))
    return task


def enqueue_cancelled(handler):
    """A task that is cancelled while it runs."""
    task = enqueue(handler)
    check(f"{handler}: begun", until(lambda: begun(task)), read("err"))
    code, _, err = run("cancel", "--id", task, "--why", "wrong amount")
    check("cancel", code == 0, err)
    return task


def not_wanted(put, why, kind):
    """How it ends. One that does its work is in time for that, or on a busy machine one of the next is."""
    for _ in range(4):
        task = put(kind)
        check(f"{why}, {kind}: ended", until(lambda task=task: shown(task)["pool"] == "finished"), read("err"))
        now = shown(task)
        check(f"{why}, {kind}: gone", until(lambda task=task: is_gone(begun(task)[0])), now)
        if kind != "does" or now["state"] == "done":
            break
    check(f"{why}, {kind}: how", now["state"] == ("done" if kind == "does" else "skipped"), now)
    check(f"{why}, {kind}: why", kind == "does" or why in (now["reason"] or ""), now)


def test_not_wanted():
    """A task that is cancelled, or whose deadline passes, while its program runs: SIGTERM, and SIGKILL to one that minds
    none. What ends with 0 all the same is done."""
    body = "print(os.getpid(), file=open('begun-' + os.environ['TASKPOOL_ID'], 'w'), flush=True)\ntime.sleep(600)\n"
    python_program("dies", body)
    python_program("minds", "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n" + body)
    python_program("does", "signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))\n" + body)
    worker = begin_work("dies", "--handler=minds=./minds", "--handler=does=./does", "--threads=6")
    at_once(*(lambda put=put, why=why, kind=kind: not_wanted(put, why, kind) for kind in ("dies", "minds", "does")
              for put, why in ((enqueue_cancelled, "wrong amount"), (enqueue_late, "its deadline"))))
    worker.send_signal(signal.SIGTERM)
    done = len([task for task in listed("--pool=finished", "--handler=does") if task["state"] == "done"])
    check("what ended with 0 is done", f"done {done}," in await_end(worker), read("out"))


def test_late_for_its_handler():
    """work --deadline: what has been due for longer is skipped, and its program not started."""
    program("on_time", "touch begun-$TASKPOOL_ID\n")
    code, out, err = run("enqueue", "on_time", "x", "--due-at=2001-01-01T00:00:00Z")
    check("enqueue", code == 0, err)
    late, now = out.strip(), enqueue("on_time")
    worker = begin_work("on_time", "--deadline=1h", "--drain")
    await_end(worker)
    check("one was skipped", shown(late)["state"] == "skipped" and not os.path.exists(f"begun-{late}"), shown(late))
    check("with its reason", "3600000 ms after it was due" in (shown(late)["reason"] or ""), shown(late))
    check("the other is done", shown(now)["state"] == "done" and os.path.exists(f"begun-{now}"), shown(now))


def unreadable(n):
    """What became of a task with long params, where on each connection SQLGetData fails from the n-th on, four times. How many
    there are while it connects is the database's affair, and the worker reads again."""
    faults = ",".join(f"SQLGetData:{i}:XX001:11" for i in range(n, n + 4))
    code, out, err = run("enqueue", "reader", "-", text=b"x" * 100000)
    check("enqueue", code == 0, err)
    task = out.strip()
    worker = begin_work("reader", "--retry=none", "--later=1d", before=(
        "env", f"TASKPOOL_TEST_DSN={DSN}", OVER, HABITS, f"Fault={faults}", "--"))

    def is_tried():
        now = shown(task)
        put_back = now["state"] == "pending" and now["due_at"] > now["created_at"]
        return worker.poll() is not None or put_back or now["state"] in ("done", "failed")

    check("it is tried", until(is_tried), read("err"))
    worker.send_signal(signal.SIGTERM)
    await_end(worker)
    now = {**shown(task), "params": None}
    run("skip", "--id", task)
    return now


def test_unreadable_params():
    """Long params are read one task at a time. A row that is damaged stays so: the task has failed, and is not put back for ever."""
    program("reader", "cat > begun-$TASKPOOL_ID\n")
    now = next((now for n in range(1, 9) if "SQLGetData" in ((now := unreadable(n))["reason"] or "")), None)
    check("params cannot be read", now, read("err"))
    check("that is a failure", now and now["state"] == "failed", now)
    check("its program was not started", now and not os.path.exists(f"begun-{now['id']}"), now)


def test_ignored_children():
    """Whoever started the worker ignores SIGCHLD: exit codes are seen all the same."""
    python_program("seven", "sys.exit(7)\n")
    task = enqueue("seven")
    worker = begin_work("seven", "--retry=none", "--drain",
                        before=("python3", "-c", "import os, signal, sys; signal.signal(signal.SIGCHLD, signal.SIG_IGN); "
                                                 "os.execv(sys.argv[1], sys.argv[1:])"))
    await_end(worker)
    check("the exit code is seen", shown(task)["reason"] == "exit code 7", shown(task))


ORPHAN = """if os.fork() == 0:
    mother = os.getpid()
    if os.fork() == 0:
        while os.getppid() == mother: time.sleep(0.01)
        print(os.getpid(), os.getppid(), file=open('begun', 'a'), flush=True)
    os._exit(0)
"""


def test_orphans():
    """What a program leaves behind becomes the worker's; it is left alone, reaped when it ends, and costs no other program
    its exit code."""
    python_program("parent", ORPHAN + "sys.exit(0)\n")
    for _ in range(8):
        enqueue("parent")
    worker = begin_work("parent", "--threads=4")
    check("all orphans end", until(lambda: len(numbers("begun")) == 16), read("begun"))
    adopted = set(numbers("begun")[1::2])
    check("they are the worker's", adopted == {worker.pid}, adopted)
    reaped = until(lambda: not set(numbers("begun")[::2]) & set(processes()))
    check("none stays a zombie", reaped, "in /proc")
    worker.send_signal(signal.SIGTERM)
    check("each program's exit code counts", "done 8" in await_end(worker), read("out"))


def test_first_process():
    """The same as a container's first process, which nobody reaps for."""
    unshare = ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child"]
    if not shutil.which("unshare") or subprocess.run([*unshare, "true"], capture_output=True).returncode:
        print("SKIPPED: a name space of processes may not be made here")
        return
    python_program("parent", ORPHAN + f"os.wait()\nuntil = time.monotonic() + {LIMIT_S}\n"
                          "def there():\n"
                          "    words = open('begun').read().split() if os.path.exists('begun') else []\n"
                          "    return len(words) < 2 or os.path.exists('/proc/' + words[0])\n"
                          "while there():\n    time.sleep(0.02)\n    if time.monotonic() > until: sys.exit('it is there')\n")
    if os.path.exists("begun"):
        os.remove("begun")
    task = enqueue("parent")
    worker = begin_work("parent", "--drain", "--retry=none", before=unshare)
    await_end(worker)
    check("PID 1 reaps what it was left", shown(task)["state"] == "done", shown(task))


def test_memory():
    """A program that runs as the worker's user reads nothing of the worker: not its memory, environment or files."""
    # Root may read everything by its capabilities, which are taken away here; what is left is what any user's program has.
    before = ("setpriv", "--bounding-set=-all") if os.getuid() == 0 else ()
    if before and (not shutil.which("setpriv") or subprocess.run([*before, "true"], capture_output=True).returncode):
        print("SKIPPED: setpriv cannot take capabilities away here")
        return
    python_program("spy", "worker = f'/proc/{os.getppid()}/'\nseen = []\n"
                          "for name in ('mem', 'maps', 'environ', 'auxv'):\n"
                          "    try:\n        with open(worker + name, 'rb') as file: file.read(1) if name != 'mem' else 0\n"
                          "        seen.append(name)\n    except OSError: pass\n"
                          "for number in range(10):\n    try: seen.append(os.readlink(worker + f'fd/{number}'))\n    except OSError: pass\n"
                          "print('seen', *seen, file=open('begun', 'w'), flush=True)\n")
    task = enqueue("spy")
    worker = begin_work("spy", "--drain", before=before)
    await_end(worker)
    check("it ran", shown(task)["state"] == "done", read("err"))
    check("nothing of the worker can be read", read("begun") == "seen", read("begun"))


def one_after_the_other():
    test_waiting()
    test_timeout_reaches_all()
    test_not_wanted()
    test_late_for_its_handler()
    test_unreadable_params()
    test_ignored_children()
    test_orphans()
    test_first_process()
    test_memory()


def test():
    at_once(test_lost_claims, one_after_the_other)
    test_unstored()  # it locks the database


main(test)
