#!/usr/bin/env -S python3 -B
"""What a console costs the workers beside it: their rate with and without fifty viewers and five operators, in turns, and the most
memory that the console took. Through tests/support/on_database.sh ENTRY, with the arguments TASKPOOL TASKPOOL_CONSOLE [ROUNDS [TASKS]]:
each round does TASKS tasks (100000) without and then with them. All on loopback, in a pool of its own."""
import json
import os
import statistics
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tests", "console"))
from console import Console, add_user, check  # pylint: disable=wrong-import-position
import pool  # pylint: disable=wrong-import-position
from pool import run  # pylint: disable=wrong-import-position

ROUNDS = int(sys.argv[3]) if len(sys.argv) > 3 else 5
TASKS = sys.argv[4] if len(sys.argv) > 4 else "100000"
VIEWERS, OPERATORS = 50, 5
LOOKS = ("failures", "activity", "tasks?pool=all&limit=50", "workers", "schedules", "history", "overview")
MEMORY_MAX_MIB = 64


class Crowd:
    """People who look and act until they are told to end, with the pauses that the page makes."""

    def __init__(self, page):
        self.page, self.ended = page, threading.Event()
        self.answers = self.events = self.refused = 0
        self.lock = threading.Lock()
        people = [(self.listen, ()) for _ in range(VIEWERS)] + [(self.look, (i,)) for i in range(VIEWERS)]
        people += [(self.act, (i,)) for i in range(OPERATORS)]
        self.threads = [threading.Thread(target=self.be, args=person) for person in people]
        for thread in self.threads:
            thread.start()

    def count(self, name, good=True):
        with self.lock:
            setattr(self, name, getattr(self, name) + 1)
            self.refused += not good

    def be(self, person, args):
        """Browsers would be elsewhere: what they cost here is not to be the console's."""
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), 19)
        person(*args)

    def listen(self):
        connection = self.page.connect()
        connection.request("GET", "/api/v1/pools/pool/events", headers={"Cookie": self.page.cookie})
        answer = connection.getresponse()
        self.count("answers", answer.status == 200)
        while not self.ended.is_set() and (line := answer.readline()):
            if line.startswith(b"data:"):
                self.count("events")
        connection.close()

    def look(self, number):
        while not self.ended.wait(8 + number % 5):
            what = LOOKS[number % len(LOOKS)]
            number += 1
            self.count("answers", self.quietly("GET", "/api/v1/pools/pool/" + what) == 200)

    def act(self, number):
        name = f"crowd-{number}"
        while not self.ended.wait(5):
            for action, body in (("pause", {"handler": name}), ("resume", {"handler": name}),
                                 ("retry", {"selection": {"handler": "fails"}, "dry_run": True})):
                self.count("answers", self.quietly("POST", "/api/v1/pools/pool/actions/" + action, body) == 200)

    def quietly(self, method, path, body=None):
        connection = self.page.connect()
        connection.request(method, path, body and json.dumps(body), {"Cookie": self.page.cookie, "X-CSRF-Token": self.page.csrf,
                                                                     "Content-Type": "application/json"})
        answer = connection.getresponse()
        answer.read()
        connection.close()
        return answer.status

    def end(self):
        self.ended.set()
        for thread in self.threads:
            thread.join(pool.LIMIT_S)


def rate():
    """Tasks a second of workers that do nothing else."""
    code, out, err = run("bench", "--measure", "life", "--tasks", TASKS, "--rounds", "1", "--processes", "2", "--plan", "skip", "--json", "--quiet")
    check("bench", code == 0, err)
    return json.loads(out)["medians"][0]["tasks_per_second"]


def processor_s(process):
    with open(f"/proc/{process}/stat", encoding="utf-8") as file:
        return sum(int(field) for field in file.read().rpartition(") ")[2].split()[11:13]) / os.sysconf("SC_CLK_TCK")


def most_memory(page):
    with open(f"/proc/{page.process.pid}/status", encoding="ascii") as file:
        return next(int(line.split()[1]) / 1024 for line in file if line.startswith("VmHWM"))


def test():
    run("enqueue", "fails", "x")
    run("work", "--handler", "fails=/bin/false", "--retry", "none", "--drain", "--quiet")
    add_user("olga", "--role", "operator")
    page = Console("--users", "users", "--behind-proxy")  # all people come from one address
    page.sign_in("olga")
    rate()
    falls, spent, console_s, people_s = [], 0, 0, 0
    for number in range(ROUNDS):
        alone = rate()
        before = processor_s(page.process.pid), processor_s("self")
        begun, crowd = time.monotonic(), Crowd(page)
        beside = rate()
        spent += time.monotonic() - begun
        console_s += processor_s(page.process.pid) - before[0]
        people_s += processor_s("self") - before[1]
        crowd.end()
        falls.append(100 * (1 - beside / alone))
        print(f"round {number + 1}: {alone:.0f} tasks/s, beside the console {beside:.0f}: {falls[-1]:+.1f} % less; {crowd.answers} answers, "
              f"{crowd.refused} not 200, {crowd.events} events; load {os.getloadavg()[0]:.0f}", flush=True)
        check("everybody is served", crowd.refused <= crowd.answers // 100, f"{crowd.refused} of {crowd.answers}")
        check("events came", crowd.events >= VIEWERS, str(crowd.events))
    print(f"median: {statistics.median(falls):+.1f} % less, over {spent:.0f} s; the console took {most_memory(page):.1f} MiB at most")
    print(f"of {os.cpu_count() * spent:.0f} processor seconds the console took {console_s:.1f}, people, who would be elsewhere, {people_s:.1f}")
    check("memory", most_memory(page) < MEMORY_MAX_MIB, f"{most_memory(page):.1f} MiB")
    page.end()


pool.main(test)
