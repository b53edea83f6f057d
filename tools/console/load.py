#!/usr/bin/env -S python3 -B
"""What a console costs the workers beside it: how far their rate falls while fifty viewers and five operators are there. Through
tests/support/on_database.sh ENTRY, with the arguments TASKPOOL TASKPOOL_CONSOLE BUSY [PAIRS [SECONDS [OPEN]]], on a quiet machine.

Two worker processes (BUSY, build/release/tools/busy) run from the beginning to the end and are never without tasks; OPEN more tasks
(10000) are open, due next year. Time is cut into PAIRS (24) of two windows of SECONDS (25) each, with the people and without them, in
random order; a pair's fall is of the rates of its two windows, so that what changes slowly (tables that grow, vacuum) is the same for
both. Without them the console is stopped (SIGSTOP): there is none.

People would be elsewhere, so what they cost this machine is not to be the console's. Their processor time is measured, and while they
are away this program uses as much of it, in the same small portions and at the same niceness. A server that answers them in the
console's place would be worse: what it costs to answer is the console's to bear, and would be taken off. It is printed, and small."""
import http.client
import json
import math
import os
import random
import re
import signal
import statistics
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tests", "console"))
from console import Console, add_user, check  # pylint: disable=wrong-import-position
import pool  # pylint: disable=wrong-import-position
from pool import run  # pylint: disable=wrong-import-position

BUSY = os.path.realpath(sys.argv[3])
PAIRS = int(sys.argv[4]) if len(sys.argv) > 4 else 24
WINDOW_S = float(sys.argv[5]) if len(sys.argv) > 5 else 25
OPEN = int(sys.argv[6]) if len(sys.argv) > 6 else 10000
VIEWERS, OPERATORS, WORKERS, THREADS, BACKLOG = 50, 5, 2, 4, 5000
LOOKS = ("failures", "activity", "tasks?pool=all&limit=50", "workers", "schedules", "history", "overview")
MEMORY_MAX_MIB, FALL_MAX = 64, 3


class Crowd:
    """People who look and act until they are told to end, with the pauses that the page makes, over connections that stay open."""

    def __init__(self, page):
        self.page, self.ended = page, threading.Event()
        self.answers = self.events = self.refused = 0
        self.lock = threading.Lock()
        people = [(self.listen,)] * VIEWERS + [(self.look, i) for i in range(VIEWERS)] + [(self.act, i) for i in range(OPERATORS)]
        self.threads = [threading.Thread(target=be, args=person) for person in people]
        for thread in self.threads:
            thread.start()

    def count(self, name, good=True):
        with self.lock:
            setattr(self, name, getattr(self, name) + 1)
            self.refused += not good

    def listen(self):
        while not self.ended.is_set():
            connection = self.page.connect()
            connection.request("GET", "/api/v1/pools/pool/events", headers={"Cookie": self.page.cookie})
            answer = connection.getresponse()
            while not self.ended.is_set() and (line := answer.readline()):
                if line.startswith(b"data:"):
                    self.count("events")
            connection.close()
            self.ended.wait(3)  # the page tries again: those of the window before may still be counted

    def look(self, number):
        connection = self.page.connect()
        self.ended.wait(number / VIEWERS * 8)
        while not self.ended.is_set():
            self.ask(connection, "GET", LOOKS[number % len(LOOKS)])
            number += 1
            self.ended.wait(8 + number % 5)
        connection.close()

    def act(self, number):
        connection = self.page.connect()
        handler = {"handler": f"crowd-{number}"}
        while not self.ended.wait(5):
            for name, body in (("pause", handler), ("resume", handler), ("retry", {"selection": {"handler": "fails"}, "dry_run": True})):
                self.ask(connection, "POST", "actions/" + name, body)
        connection.close()

    def ask(self, connection, method, path, body=None):
        headers = {"Cookie": self.page.cookie, "X-CSRF-Token": self.page.csrf, "Content-Type": "application/json"}
        for last in (False, True):  # the server may have closed it meanwhile
            try:
                connection.request(method, "/api/v1/pools/pool/" + path, body and json.dumps(body), headers)
                answer = connection.getresponse()
                answer.read()
                break
            except (http.client.HTTPException, ConnectionError):
                connection.close()
                if last:
                    raise
        self.count("answers", answer.status == 200)

    def end(self):
        self.ended.set()
        for thread in self.threads:
            thread.join(pool.LIMIT_S)


def be(person, *args):
    os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), 19)
    person(*args)


def spend(share, ended):
    """This share of a processor, until it is ended."""
    begun, before = time.monotonic(), time.process_time()
    while not ended.wait(0.02):
        while time.process_time() - before < (time.monotonic() - begun) * share and not ended.is_set():
            pass


# ---- Workers ----------------------------------------------------------------------------------------------------------------


class Worker:
    def __init__(self):
        env = pool.environment({})
        self.process = subprocess.Popen([BUSY, "busy", str(THREADS), str(BACKLOG)], stdout=subprocess.PIPE, env=env, text=True)
        self.times = []
        self.reader = threading.Thread(target=self.read)
        self.reader.start()

    def read(self):
        for line in self.process.stdout:
            self.times.append(tuple(map(int, line.split())))

    def rate(self, begun, ended):
        """Tasks a second between two times of the monotonic clock."""
        inside = [(at, done) for at, done in self.times if begun * 1000 <= at <= ended * 1000]
        return 1000 * (inside[-1][1] - inside[0][1]) / (inside[-1][0] - inside[0][0])

    def end(self):
        self.process.terminate()
        check("a worker ends", self.process.wait(pool.LIMIT_S) == 0)
        self.reader.join()


# ---- What processes cost -----------------------------------------------------------------------------------------------------


def processor_s(process):
    try:
        with open(f"/proc/{process}/stat", encoding="utf-8") as file:
            return sum(int(field) for field in file.read().rpartition(") ")[2].split()[11:13]) / os.sysconf("SC_CLK_TCK")
    except FileNotFoundError:
        return 0


def ports(process):
    """The local ports of its TCP connections."""
    inodes = set()
    for file in os.scandir(f"/proc/{process}/fd"):
        try:
            inodes.add(os.readlink(file.path))
        except FileNotFoundError:  # closed meanwhile
            pass
    with open(f"/proc/{process}/net/tcp", encoding="ascii") as file:
        rows = [line.split() for line in file.readlines()[1:]]
    return {int(row[1].split(":")[1], 16) for row in rows if f"socket:[{row[9]}]" in inodes}


def sessions(process):
    """PostgreSQL's processes that it is connected to; none where the server is another, or elsewhere."""
    mine, found = ports(process), []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/cmdline", encoding="utf-8", errors="replace") as file:
                title = re.match(r"postgres: .*\((\d+)\) ", file.read())
        except OSError:
            continue
        if title and int(title.group(1)) in mine:
            found.append(int(name))
    return found


def most_memory(page):
    with open(f"/proc/{page.process.pid}/status", encoding="ascii") as file:
        return next(int(line.split()[1]) / 1024 for line in file if line.startswith("VmHWM"))


# ---- The measurement ---------------------------------------------------------------------------------------------------------


class Measurement:
    def __init__(self, page, workers):
        self.page, self.workers = page, workers
        self.with_s = self.people_s = self.console_s = self.sessions_s = 0
        self.answers = self.events = self.refused = 0

    def rate(self, begun):
        return sum(worker.rate(begun, time.monotonic()) for worker in self.workers)

    def with_people(self):
        os.kill(self.page.process.pid, signal.SIGCONT)
        process = self.page.process.pid
        known = sessions(process)
        begun, before = time.monotonic(), (time.process_time(), processor_s(process), sum(map(processor_s, known)))
        crowd = Crowd(self.page)
        time.sleep(WINDOW_S)
        rate = self.rate(begun)
        self.with_s += time.monotonic() - begun
        self.people_s += time.process_time() - before[0]
        self.console_s += processor_s(process) - before[1]
        self.sessions_s += sum(map(processor_s, set(known) | set(sessions(process)))) - before[2]
        crowd.end()
        self.answers, self.events, self.refused = self.answers + crowd.answers, self.events + crowd.events, self.refused + crowd.refused
        os.kill(process, signal.SIGSTOP)
        return rate

    def without(self):
        ended = threading.Event()
        spender = threading.Thread(target=be, args=(spend, self.people_s / self.with_s, ended))
        begun = time.monotonic()
        spender.start()
        time.sleep(WINDOW_S)
        rate = self.rate(begun)
        ended.set()
        spender.join()
        return rate

    def fall(self):
        """Of a pair, in percent."""
        rates = {}
        for window in random.sample((self.with_people, self.without), 2):
            rates[window] = window()
        alone, beside = rates[self.without], rates[self.with_people]
        print(f"without {alone:6.0f} tasks/s, with {beside:6.0f}: {100 * (1 - beside / alone):+5.1f} % less; load {os.getloadavg()[0]:.1f}", flush=True)
        return 100 * (1 - beside / alone)


def interval(values):
    """In which the median lies with at least 95 %, whatever the distribution: by the ranks of the values."""
    count = len(values)
    below = [sum(math.comb(count, k) for k in range(rank)) / 2 ** count for rank in range(1, count // 2 + 1)]  # P(fewer than rank below)
    rank = max((rank for rank, part in enumerate(below, 1) if part <= 0.025), default=1)
    return sorted(values)[rank - 1], sorted(values)[-rank]


def prepare():
    run("enqueue", "fails", "x")
    run("work", "--handler", "fails=/bin/false", "--retry", "none", "--drain", "--quiet")
    code, _, err = run("enqueue", "--file", "-", "--format", "jsonl", "--handler", "later", "--quiet",
                       text=b'{"params": "x", "delay_ms": 30000000000}\n' * OPEN)
    check("open tasks", code == 0, err)
    add_user("olga", "--role", "operator")


def report(measured, falls):
    low, high = interval(falls)
    seconds = measured.with_s
    own = measured.console_s + measured.sessions_s
    print(f"rate: {statistics.median(falls):+.1f} % less (median of {len(falls)} pairs; 95 %: {low:+.1f} to {high:+.1f}; mean {statistics.mean(falls):+.1f})")
    print(f"of {os.cpu_count() * seconds:.0f} processor seconds with them: the console {measured.console_s:.1f}, its database sessions "
          f"{measured.sessions_s:.1f}, together {100 * own / os.cpu_count() / seconds:.2f} %; people, whose part was used without them too, {measured.people_s:.1f}")
    print(f"memory: {most_memory(measured.page):.1f} MiB at most; {measured.answers} answers, {measured.refused} not 200, {measured.events} events in {seconds:.0f} s")
    check("everybody is served", measured.refused <= measured.answers // 100, f"{measured.refused} of {measured.answers}")
    check("events came", measured.events >= VIEWERS * PAIRS, str(measured.events))
    check("memory", most_memory(measured.page) < MEMORY_MAX_MIB)
    check("rate", statistics.median(falls) < FALL_MAX)


def test():
    prepare()
    page = Console("--users", "users", "--behind-proxy")  # all people come from one address
    page.sign_in("olga")
    workers = [Worker() for _ in range(WORKERS)]
    try:
        measured = Measurement(page, workers)
        time.sleep(3)
        measured.with_people()  # the first is not counted: it says what people cost
        measured.without()
        report(measured, [measured.fall() for _ in range(PAIRS)])
    finally:
        os.kill(page.process.pid, signal.SIGCONT)
        for worker in workers:
            worker.end()
        page.end()


pool.main(test)
