"""Producers and workers as processes, and what the workers tell of their tasks. All are started by the main thread,
because they end with it (see tools/soak/program/main.c)."""
import collections
import os
import re
import signal
import subprocess
import threading
import time

SETTLED = ("done", "skipped", "retry", "gave-up")
LOG_MAX = 8 << 20


class Heard:
    """What all workers told: counts of events, and when it was that a task was last settled."""

    def __init__(self):
        self.lock = threading.Lock()
        self.events = collections.Counter()
        self.driver_crashes = 0
        self.settled = 0
        self.last_settled = 0.0  # monotonic

    def line(self, line, process):
        """process: who told it."""
        event = line.split(" ", 1)[0].strip()
        with self.lock:
            self.events[event] += 1
            if event in SETTLED:
                self.settled += 1
                self.last_settled = time.monotonic()

    @property
    def stale(self):
        """Settles and extensions that were refused, because the claim was lost."""
        return self.events["lost"]


class Process:
    def __init__(self, world, kind, name, dsn, words, proxied=False, plan=None):
        self.world = world
        self.kind = kind        # worker or producer
        self.name = name
        self.dsn = dsn
        self.words = words      # the command; {start} becomes the number of the start
        self.proxied = proxied
        self.plan = plan        # of a worker; None: the dialect's own
        self.program = None
        self.starts = 0
        self.down = True        # on purpose
        self.stopped = False
        self.log = os.path.join(world.folder, "log", name + ".log")

    @property
    def pid(self):
        return self.program.pid if self.program else None

    def running(self):
        return self.program is not None and self.program.poll() is None

    def start(self, env=None, wrap=()):
        """wrap: words in front of the command, such as faketime and its arguments."""
        if self.running():
            return
        self.starts += 1
        self.rotate()
        words = list(wrap) + [word.replace("{start}", str(self.starts)) for word in self.words]
        with open(self.log, "ab") as log:
            self.program = subprocess.Popen(words, env={**os.environ, "TASKPOOL_DSN": self.dsn, **(env or {})},
                                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log, text=True,
                                            cwd=os.path.dirname(self.log))  # a core file stays with the logs
        self.down = self.stopped = False
        threading.Thread(target=self.listen, args=(self.program.stdout,), daemon=True).start()

    def listen(self, out):
        with out:
            for line in out:
                self.world.heard.line(line, self)

    def rotate(self):
        try:
            if os.path.getsize(self.log) > LOG_MAX:
                os.replace(self.log, self.log + ".1")
        except OSError:
            pass

    def signal(self, number):
        if self.running():
            self.program.send_signal(number)

    def kill(self):
        """SIGKILL; gone when it returns."""
        self.down = True
        self.signal(signal.SIGKILL)
        if self.program:
            self.program.wait()

    def stop(self):
        """SIGSTOP, until go_on."""
        self.stopped = True
        self.signal(signal.SIGSTOP)

    def go_on(self):
        self.stopped = False
        self.signal(signal.SIGCONT)

    def end(self, seconds=30):
        """SIGTERM. Its exit code; None when it had to be killed."""
        self.down = True
        if not self.program:
            return 0
        if self.stopped:
            self.go_on()
        self.signal(signal.SIGTERM)
        try:
            return self.program.wait(seconds)
        except subprocess.TimeoutExpired:
            self.kill()
            return None

    def tend(self):
        """What is wrong with it, or None: it must not end by itself. Its log is kept small."""
        try:
            if os.path.getsize(self.log) > 4 * LOG_MAX:
                os.truncate(self.log, 0)
        except OSError:
            pass
        if self.down or self.running():
            return None
        code, driver = self.program.returncode, self.crashed_driver()
        self.start()
        if driver:
            self.world.note(f"{self.name}: its driver crashed, {driver}")
            self.world.heard.driver_crashes += 1
            return None
        return f"{self.name} ended by itself with exit code {code}, see {self.log}"

    def crashed_driver(self):
        """The frame of an ODBC driver that the process crashed in, or None: it did not crash, or elsewhere. That is no
        fault of the pool's, but a death like any other, after which nothing may be lost."""
        if self.program.returncode not in (-signal.SIGSEGV, -signal.SIGBUS, -signal.SIGABRT):
            return None
        with open(self.log, encoding="utf-8", errors="replace") as log:
            frames = log.read().rpartition("soak: crashed in\n")[2].splitlines()
        for frame in frames[1:]:  # the first is the one that tells
            if "/libc.so" not in frame:
                return frame if re.search(r"/odbc/lib\w+\.so\(", frame) else None
        return None
