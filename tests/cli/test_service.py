#!/usr/bin/env -S python3 -B
"""taskpool work as a service: what it tells a service manager, options in a file, its log as JSON, a stop that waits; and what systemd
thinks of the units, where it is here.
usage: test_service.py PATH_TO_TASKPOOL FOLDER_OF_THE_UNITS"""
import glob
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time

import pool
from pool import check, environment, program, run, until

UNITS = sys.argv[2]


class Manager:
    """What systemd would hear of a worker. It reads at once: where ten messages wait, the next is lost."""

    def __init__(self, address):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind("\0" + address[1:] if address[0] == "@" else address)
        self.heard = []
        threading.Thread(target=self.listen, daemon=True).start()

    def listen(self):
        while True:
            self.heard += self.socket.recv(4096).decode().split("\n")

    def count(self, begin):
        return sum(line.startswith(begin) for line in self.heard[:])

    def mark(self, line):
        """What was sent before has been heard when it returns."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
            sender.sendto(line.encode(), self.socket.getsockname())
        return self.hears(line)

    def hears(self, begin, times=1):
        return until(lambda: self.count(begin) >= times)


def worker(*args, **changes):
    return subprocess.Popen([pool.TASKPOOL, "work", *args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            env=environment(changes))


def tells_the_manager(name, address):
    """Also of the stop, and while it waits for a program."""
    manager = Manager(address)
    handler = program("slow.sh", "env > seen.new; mv seen.new seen; while [ ! -e go ]; do sleep 0.05; done\n")
    run("enqueue", "slow")
    process = worker("--handler", f"slow={handler}", NOTIFY_SOCKET=address, WATCHDOG_USEC="2000000")
    check(f"{name}: ready", manager.hears("READY=1"), manager.heard)
    check(f"{name}: alive, again and again", manager.hears("WATCHDOG=1", 5), manager.heard)
    check(f"{name}: how it is", manager.hears("STATUS=running: 1 running"), manager.heard)
    check(f"{name}: the program runs", until(lambda: os.path.exists("seen")))
    check(f"{name}: programs are not told of the manager", "NOTIFY" not in pool.read("seen") and "WATCHDOG" not in pool.read("seen"))
    check(f"{name}: all was heard", manager.mark("BEFORE"))  # of the stop it tells once, and there is room for that
    alive = manager.count("WATCHDOG=1")
    process.send_signal(signal.SIGTERM)
    check(f"{name}: stopping", manager.hears("STOPPING=1"), manager.heard)
    check(f"{name}: it asks for more time", manager.hears("EXTEND_TIMEOUT_USEC=", 3), manager.heard)
    check(f"{name}: and is alive meanwhile", manager.hears("WATCHDOG=1", alive + 3), manager.heard)
    check(f"{name}: it waits for the program", process.poll() is None)
    with open("go", "w", encoding="utf-8"):
        pass
    _, out, err = pool.end(process)
    check(f"{name}: the task is done", "done 1," in out, out + err)
    check(f"{name}: it ended well", process.returncode == 0, process.returncode)
    for left in ("go", "seen"):
        os.remove(left)


def watchdog_of_another():
    """One that is meant for another process is not fed; a socket that is gone holds nobody up."""
    manager = Manager("other.socket")
    process = worker("--handler", "none=/bin/true", NOTIFY_SOCKET=os.path.realpath("other.socket"), WATCHDOG_USEC="100000", WATCHDOG_PID="1")
    check("another's: ready", manager.hears("READY=1"))
    check("another's: how it is", manager.hears("STATUS="))
    process.send_signal(signal.SIGTERM)
    pool.end(process)
    check("another's watchdog is not fed", manager.mark("END") and manager.count("WATCHDOG=1") == 0, manager.heard)
    for gone in ("/nowhere/socket", "nonsense", "@" + "x" * 200):
        code, _, err = run("work", "--handler", "none=/bin/true", "--drain", NOTIFY_SOCKET=gone)
        check(f"without a manager at {gone[:20]}", code == 0, err)


def stands(thread):
    with open(thread, encoding="utf-8") as file:
        return file.read().rsplit(") ", 1)[1][0] in "Tt"


def stuck():
    """A worker that is held still feeds nobody: so a manager sees that it hangs."""
    manager = Manager("stuck.socket")
    process = worker("--handler", "none=/bin/true", NOTIFY_SOCKET=os.path.realpath("stuck.socket"), WATCHDOG_USEC="200000")
    check("stuck: alive at first", manager.hears("WATCHDOG=1", 2))
    process.send_signal(signal.SIGSTOP)
    check("stuck: it stands", until(lambda: all(stands(name) for name in glob.glob(f"/proc/{process.pid}/task/*/stat"))))
    check("stuck: what it told before is heard", manager.mark("STANDS"))
    told = len(manager.heard)
    time.sleep(0.1)
    check("stuck: nothing is told", manager.mark("STILL") and manager.heard[told:] == ["STILL"], manager.heard[told:])
    alive = manager.count("WATCHDOG=1")
    process.send_signal(signal.SIGCONT)
    check("stuck: alive again", manager.hears("WATCHDOG=1", alive + 1))
    process.send_signal(signal.SIGTERM)
    pool.end(process)


def config(text, *args, mode=0o600, **changes):
    with open("work.conf", "w", encoding="utf-8") as file:
        file.write(text)
    os.chmod("work.conf", mode)
    return run("work", "--config", "work.conf", *args, **changes)


def options_in_a_file():
    run("enqueue", "one")
    run("enqueue", "two")
    code, out, err = config("# comment\n\n handler = one=/bin/true\nhandler=two=/bin/true\n drain = yes\nschedules = no\nretry=none \n")
    check("a file of options", code == 0 and "done 2," in out, out + err)
    run("enqueue", "one")
    code, out, err = config("handler = one=/bin/false\ndrain = yes\nretry = 1d\n", "--retry", "none")
    check("the command line is stronger", code == 8 and "gave-up 1" in out, f"{code} {out}{err}")
    for text, said in [("thread = 3\n", "line 1: there is no option thread"), ("\nthreads\n", "line 2: a line is NAME = VALUE"),
                       ("drain = 1\n", "drain is yes or no"), ("threads =\n", "value of threads is missing"),
                       ("dsn = Driver=x;PWD=secret\n", "does not stand in this file"), ("config = x\n", "there is no option config"),
                       ("threads = 0\nhandler=x=/bin/true\n", "--threads must be")]:
        code, out, err = config(text)
        check(f"{text!r} is refused", code == 2 and said in err and "secret" not in err, f"{code} {err}")
    code, _, err = config("handler = one=/bin/true\ndrain = yes\n", mode=0o602)
    check("a file that everybody can write", code == 74 and "everybody" in err, f"{code} {err}")
    code, _, err = run("work", "--config", "gone.conf")
    check("a file that is not there", code == 74 and "gone.conf" in err, f"{code} {err}")
    with open("pool.dsn", "w", encoding="utf-8") as file:
        file.write(pool.DSN + "\n")
    os.chmod("pool.dsn", 0o600)
    code, out, err = config("dsn-file = pool.dsn\nhandler = one=/bin/true\ndrain = yes\n", TASKPOOL_DSN="")
    check("a connection string of its own file", code == 0, err)
    os.chmod("pool.dsn", 0o644)
    code, _, err = config("dsn-file = pool.dsn\nhandler = one=/bin/true\ndrain = yes\n", TASKPOOL_DSN="")
    check("which everybody can read", code == 74 and "everybody" in err, f"{code} {err}")


def json_log():
    handler = program("says.sh", "echo out; printf 'b\\303\\244d \"x\\377\\001\\n' >&2; exit 1\n")
    run("enqueue", "says")
    code, out, err = run("work", "--handler", f"says={handler}", "--retry", "none", "--drain", "--log-format", "json")
    lines = [json.loads(line) for line in err.splitlines()]
    events = [line["event"] for line in lines]
    check("each line of the log is JSON", code == 8 and events[-1] == "summary", err)
    first = lines[0]
    check("the first line says with what it started", first["event"] == "started" and first["handlers"] == ["says"]
          and (first["threads"], first["lease_ms"]) == (4, 60000)
          and first["retry"] == "none" and ", prefix " in first["pool"], err)
    check("what the program wrote", any(line["event"] == "program" and line["text"].startswith("b\u00e4d \"x") for line in lines), err)
    check("what became of the task", any(line["event"] == "gave-up" and line["handler"] == "says" for line in lines), err)
    check("standard output has only the program's", out == "out\n", out)
    code, out, err = run("work", "--handler", "x=/nowhere", "--log-format", "json")
    check("messages of taskpool's own before the worker starts", code == 7 and "/nowhere" in err, err)
    code, _, err = run("work", "--handler", "x=/bin/true", "--log-format", "xml")
    check("a format that is none", code == 2, err)


def units():
    if not shutil.which("systemd-analyze"):
        print("SKIPPED: systemd-analyze is not here", file=sys.stderr)
        check("systemd-analyze", not os.environ.get("TASKPOOL_TEST_REQUIRE"), "TASKPOOL_TEST_REQUIRE is set")
        return
    os.mkdir("units")
    for name in ("taskpool@.service", "taskpool-check@.service", "taskpool-check@.timer", "taskpool-console@.service"):
        with open(os.path.join(UNITS, name), encoding="utf-8") as file:
            text = file.read()
        # The program is where it was built.
        text = "\n".join("ExecStart=" + pool.TASKPOOL + line.split("/taskpool", 1)[1] if line.startswith("ExecStart=") else line
                         for line in text.split("\n")).replace("User=taskpool-console", "User=root").replace("User=taskpool", "User=root")
        with open(os.path.join("units", name.replace("@", "@shop")), "w", encoding="utf-8") as file:
            file.write(text)
    made = sorted(os.listdir("units"))
    done = subprocess.run(["systemd-analyze", "verify", "--man=no", *(os.path.join("units", name) for name in made)], capture_output=True,
                          text=True, check=False)
    said = [line for line in done.stderr.splitlines() if "taskpool" in line]
    check("systemd-analyze verify", done.returncode == 0 and not said, done.stderr)
    for name in ("taskpool@shop.service", "taskpool-check@shop.service", "taskpool-console@shop.service"):
        done = subprocess.run(["systemd-analyze", "security", "--offline=yes", "--threshold=20", "--no-pager", os.path.join("units", name)],
                              capture_output=True, text=True, check=False)
        check(f"{name} is hardened", done.returncode == 0 and "exposure level" in done.stdout, done.stdout[-600:] + done.stderr)


def test():
    tells_the_manager("by a path", os.path.realpath("manager.socket"))
    tells_the_manager("by a name", f"@taskpool-test-{pool.PREFIX}")
    watchdog_of_another()
    stuck()
    options_in_a_file()
    json_log()
    units()


pool.main(test)
