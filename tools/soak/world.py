"""What a fault may touch, and what a fault is. It decides nothing about the order of faults (schedule.py) or about
right and wrong (judge.py). One World is one database with its producers and workers, in a process of its own.

A module named faults_*.py in this folder is found by itself: it has a list FAULTS of classes made from Fault."""
import os
import random
import subprocess
import threading
import time

LEASE_S = 2.5  # of every worker's claims
DATABASES = ("sqlite", "postgres", "mariadb", "mysql", "oramode")


class Fault:
    """One kind of trouble. An object is made for each time it is injected, so it may keep what heal needs."""

    name = ""        # in the table and for --faults: short, lower case, hyphens
    short = True     # False: only when named by --faults, or in runs of 10 minutes and more

    @classmethod
    def applies(cls, database):
        """Is there such a thing on this database (sqlite, postgres, mariadb, mysql, oramode) and on this machine?"""
        return True

    @classmethod
    def prepare(cls, world):
        """Once, before the server is started and only when the fault is among those chosen: for instance to mount a
        small tmpfs on world.data (an empty folder then). What it makes is undone in clean_up."""

    @classmethod
    def clean_up(cls, world):
        """Once, after everything has been stopped, whatever happened."""

    def inject(self, world):
        """Does it; returns when the fault is over or has lasted long enough, with how many times it was injected (0:
        there was no occasion). All choices come from world.random, so that a seed means the same choices."""
        raise NotImplementedError

    def heal(self, world):
        """Puts right what inject left: starts what was killed, lets go of locks. Always called, also after an
        inject that raised. The time to recover counts from its end to the next task that is settled."""


class World:
    def __init__(self, database, folder, seed, build, note):
        self.database = database
        self.folder = folder                        # logs, pid files, producers' records; removed at the end of a good run
        self.data = os.path.join(folder, "data")    # the database's own files: a server's data, or the SQLite file
        self.build = build                          # the build folder with the programs
        self.seed = seed
        self.random = random.Random(f"{seed}/{database}")  # a new one for each injection
        self.note = note                            # note(text): one line into the run's log, with the time
        self.direct = None                          # connection string without the proxy
        self.proxied = None                         # through the proxy; None on sqlite
        self.proxy = None                           # proxy.Proxy(host, port), started; None on sqlite
        self.server = None                          # server.Server; None on sqlite
        self.client = None                          # client.Client: the database's own command line program
        self.processes = []                         # process.Process: all producers and workers
        self.stopping = threading.Event()           # the run is to end: waits end early
        self.began = time.monotonic()
        self.heard = None                           # process.Heard: what the workers told

    # ---- Processes ------------------------------------------------------------------------------------------------

    def workers(self, proxied=None):
        return self.of_kind("worker", proxied)

    def producers(self, proxied=None):
        return self.of_kind("producer", proxied)

    def of_kind(self, kind, proxied=None):
        """Those of a kind: all, or only those that connect through the proxy (True) or directly (False). Each has name,
        kind, pid, plan, proxied and the calls running() kill() stop() go_on() end() start(env={}, wrap=[])."""
        return [p for p in self.processes if p.kind == kind and (proxied is None or p.proxied == proxied)]

    # ---- The database, as an onlooker: always direct ----------------------------------------------------------------

    def sql(self, text, timeout=30):
        """Runs SQL in the database's own client as its administrator, on a connection of its own. Rows as lists of
        strings, NULL as "". Raises client.SqlError."""
        return self.client.run(text, timeout)

    def session(self):
        """A session that stays open, for locks and open transactions: run(text) gives rows, close() ends it (rolled
        back), kill() ends it hard. The caller closes it in heal."""
        return self.client.session()

    # ---- Time -----------------------------------------------------------------------------------------------------

    def clock(self):
        """Seconds since the start."""
        return time.monotonic() - self.began

    def wait(self, seconds):
        """Lets time pass; less when the run is to end."""
        self.stopping.wait(seconds)

    def until(self, condition, seconds):
        """Waits until condition() is true, at most so long. Its last answer."""
        end = time.monotonic() + seconds
        while not condition() and time.monotonic() < end and not self.stopping.is_set():
            time.sleep(0.05)
        return condition()

    def settled(self):
        """Tasks that workers said they settled, since the start."""
        return self.heard.settled

    def command(self, *words, **options):
        """subprocess.run with the output kept as text; nothing is inherited on standard input."""
        options = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT,
                   "text": True, **options}
        return subprocess.run(words, **options)
