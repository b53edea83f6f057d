"""One database from start to end: its server, its producers and workers, one fault after the other, the judge. The order
of the faults is a matter of the seed alone; how many of them find room in the time is not."""
import glob
import importlib
import os
import random
import re
import shutil
import stat
import time

import client
import ends
import judge
import process
import proxy
import server
import wire
from world import LEASE_S, World

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = server.ROOT
PRODUCERS = 3
PAUSE_MS = 120      # of a producer between two acts, on the average
PLANS = {"sqlite": (None, "hold", "row", "cas")}
PLANS_ELSEWHERE = (None, "hold", "row", "batch", "cas")
SESSIONS = {  # what the server says of them
    "postgres": "SELECT pid, state, wait_event, xact_start, query_start, now(), left(query, 200) FROM pg_stat_activity "
                "WHERE usename = 'taskpool'",
    "mariadb": "SELECT p.id, command, time, t.trx_started, t.trx_rows_locked, left(p.info, 200) "
               "FROM information_schema.processlist p LEFT JOIN information_schema.innodb_trx t "
               "ON t.trx_mysql_thread_id = p.id WHERE p.user = 'taskpool'",
}
SESSIONS["oramode"] = SESSIONS["mariadb"]
SESSIONS["mysql"] = SESSIONS["mariadb"].replace("information_schema.processlist", "performance_schema.processlist")
RECOVER_S = 180     # a fault from which nothing comes back within this time is a failure
STAY_S = 3          # what is to wait in a group for longer than it is of use does so, also when the time is up
END_S = 180         # without any end of those that are still open when the time is up


def all_faults():
    found = []
    for path in sorted(glob.glob(os.path.join(HERE, "faults_*.py"))):
        found += importlib.import_module(os.path.basename(path)[:-3]).FAULTS
    return found


def schedule(seed, database, faults):
    """The faults in their order, for ever: each once, in an order of chance, then each once more."""
    chance = random.Random(f"{seed}/{database}/order")
    number = 0
    while True:
        turn = list(faults)
        chance.shuffle(turn)
        for fault in turn:
            number += 1
            yield fault, random.Random(f"{seed}/{database}/{number}"), chance.uniform(0.3, 1.5)


class Injection:
    """One fault, from its begin to the begin of the next: what happened meanwhile."""

    def __init__(self, name, heard):
        self.name = name
        self.times = 0
        self.began = time.time()
        self.recovery = None
        self.settled_before, self.stale_before = heard.settled, heard.stale
        self.settled = self.stale = 0

    def end(self, heard):
        self.settled = heard.settled - self.settled_before
        self.stale = heard.stale - self.stale_before


class Run:
    def __init__(self, database, folder, seed, duration, faults, build, apart=False):
        self.database = database
        self.duration = duration
        self.faults = faults
        self.apart = apart
        self.failures = []  # what went wrong besides what the judge finds
        self.injections = []
        for name in ("log", "records"):
            os.makedirs(os.path.join(folder, name))
        os.chmod(folder, 0o755)  # the servers' users come through
        self.log = open(os.path.join(folder, "log", "run.log"), "a", encoding="utf-8", buffering=1)
        self.world = World(database, folder, seed, build, self.note)
        self.world.heard = process.Heard()

    def note(self, text):
        self.log.write(f"{self.world.clock():9.2f} {text}\n")

    def fail(self, text):
        self.note("FAILURE " + text)
        self.failures.append(text)

    # ---- Before -----------------------------------------------------------------------------------------------------

    def set_up(self):
        world = self.world
        for fault in self.faults:
            fault.prepare(world)
        if self.database == "sqlite":
            os.makedirs(world.data, exist_ok=True)
            path = os.path.join(world.data, "soak.db")
            world.direct = f"Driver=SQLite3;Database={path};"
            world.client = client.make(self.database, {"file": path})
        else:
            self.set_up_server()
        done = world.command(self.program(), "setup", env={**os.environ, "TASKPOOL_DSN": world.direct})
        if done.returncode != 0:
            raise RuntimeError(f"the tables cannot be made: {done.stdout.strip()}")

    def set_up_server(self):
        world = self.world
        world.server = server.Server({"oramode": "mariadb"}.get(self.database, self.database), world.folder)
        world.server.start()
        settings = world.server.settings
        world.direct = settings[f"TASKPOOL_TEST_DSN_{self.database.upper()}"]
        world.client = client.make(self.database, settings)
        if self.database == "oramode":
            done = world.command(os.path.join(ROOT, "tests", "standin", "install.sh"), "tp_",
                                 env={**os.environ, **{k: v for k, v in settings.items() if isinstance(v, str)}})
            if done.returncode != 0:
                raise RuntimeError(f"the stand-in's functions cannot be made: {done.stdout.strip()}")
        reader = wire.Postgres if self.database == "postgres" else wire.MariaDB
        world.proxy = proxy.Proxy("127.0.0.1", world.server.port, reader=reader)
        world.proxied = re.sub(r"Port=\d+", f"Port={world.proxy.port}", world.direct)

    def program(self):
        return os.path.join(self.world.build, "tools", "soak")

    def add(self, kind, name, words, proxied, plan=None):
        proxied = proxied and self.world.proxied is not None
        dsn = self.world.proxied if proxied else self.world.direct
        self.world.processes.append(process.Process(self.world, kind, name, dsn, words, proxied, plan))

    def start_processes(self):
        world = self.world
        for i in range(PRODUCERS):
            records = os.path.join(world.folder, "records", f"producer{i}")
            self.add("producer", f"producer{i}",
                     [self.program(), "producer", "--name", f"p{i}." + "{start}", "--records", records,
                      "--pause-ms", str(PAUSE_MS), "--seed", f"{world.random.randrange(10**6)}" + "{start}"], i == 0)
        for i, plan in enumerate(PLANS.get(self.database, PLANS_ELSEWHERE)):
            words = [self.program(), "worker", "--lease-ms", str(int(LEASE_S * 1000)),
                     "--seed", f"{world.random.randrange(10**6)}" + "{start}",
                     "--outside", os.path.join(world.folder, "outside")]
            words += ["--plan", plan] if plan else []
            words += ["--apart"] if self.apart else []
            self.add("worker", f"worker-{plan or 'default'}", words, i % 2 == 0, plan)
        for each in world.processes:
            each.start()
        if not world.until(lambda: world.settled() >= 10, RECOVER_S):
            raise RuntimeError("no tasks are settled, before any fault")

    # ---- Faults -----------------------------------------------------------------------------------------------------

    def tend(self):
        """Processes must not end by themselves. Deaths are forgotten at once, or plan hold would be given up for a
        quarter of an hour after the first."""
        for each in self.world.processes:
            wrong = each.tend()
            if wrong:
                self.fail(wrong)
        try:
            self.world.sql("DELETE FROM tp_worker WHERE state = 'died'")
        except client.SqlError as error:
            self.note(f"deaths cannot be forgotten: {error}")

    def inject(self, kind, chance):
        world = self.world
        world.random = chance
        fault = kind()
        injection = Injection(fault.name, world.heard)
        self.injections.append(injection)
        self.note(f"{fault.name}")
        try:
            injection.times = fault.inject(world) or 0
        except Exception as error:  # the run goes on, so that the judge has its say
            self.fail(f"{fault.name} cannot be injected: {type(error).__name__}: {error}")
        try:
            fault.heal(world)
        except Exception as error:
            self.fail(f"{fault.name} cannot be healed: {type(error).__name__}: {error}")
        healed, settled = time.monotonic(), world.settled()
        if world.until(lambda: world.settled() > settled, RECOVER_S):
            injection.recovery = max(0.0, world.heard.last_settled - healed) if world.settled() == settled + 1 else \
                time.monotonic() - healed
            self.note(f"{fault.name}: {injection.times} times, settling again after {injection.recovery:.2f} s")
        elif not world.stopping.is_set():
            self.fail(f"{fault.name}: nothing was settled within {RECOVER_S} s after it")

    def faults_in_turn(self):
        world = self.world
        for kind, chance, pause in schedule(world.seed, self.database, self.faults):
            if self.over():
                return
            self.inject(kind, chance)
            self.tend()
            world.wait(pause)
            self.injections[-1].end(world.heard)

    def over(self):
        return self.world.clock() >= self.duration or self.world.stopping.is_set()

    # ---- After ------------------------------------------------------------------------------------------------------

    def open_tasks(self):
        """And groups."""
        try:
            return sum(int(self.world.sql(f"SELECT COUNT(*) FROM {what}")[0][0]) for what in
                       ("tp_pending", "tp_group WHERE state <> 'over'"))
        except client.SqlError as error:
            self.note(f"open tasks cannot be counted: {error}")
            return -1

    def wind_up(self):
        """No more tasks; those that are there end; the workers end in good order."""
        world = self.world
        self.note("winding up")
        for each in world.producers():
            self.end(each)
        world.wait(STAY_S)
        self.close_groups()
        self.drain()
        for each in world.workers():
            self.end(each)
        if self.injections:
            self.injections[-1].end(world.heard)

    def close_groups(self):
        done = self.world.command(self.program(), "close", env={**os.environ, "TASKPOOL_DSN": self.world.direct})
        if done.returncode != 0:
            self.fail(f"groups that were left open cannot be closed: {done.stdout.strip()}")

    def drain(self):
        """Until no task is open; as long as they get fewer, there is hope. What fails for good meanwhile may hold up a group."""
        fewest, since, closed = None, time.monotonic(), time.monotonic()
        while not self.world.stopping.is_set():
            count = self.open_tasks()
            if count == 0:
                return
            if count > 0 and (fewest is None or count < fewest):
                fewest, since = count, time.monotonic()
            if time.monotonic() - max(since, closed) > STAY_S:
                self.close_groups()
                closed = time.monotonic()
            if time.monotonic() - since > END_S:
                self.fail(f"{fewest} tasks are still open, and for {END_S} s they have not got fewer")
                self.describe()
                return
            self.world.wait(0.2)

    def describe(self):
        """What the open tasks and the sessions look like, for whoever searches for the cause."""
        for query in ("SELECT id, handler, state, failures, owner, due_at, gate, params FROM tp_pending",
                      "SELECT name, state, rule, parent, seen_id FROM tp_group WHERE state <> 'over'",
                      "SELECT task_id, due_at, who, created_at FROM tp_cancel", SESSIONS.get(self.database)):
            for row in self.world.sql(query)[:100] if query else []:
                self.note("  " + " | ".join(row))
        self.world.wait(float(os.environ.get("SOAK_LINGER", 0)))  # time for a debugger

    def end(self, each):
        if each.running():
            code = each.end(300)
            if code != 0:
                self.fail(f"{each.name} did not end in good order: exit code {code}, see {each.log}")

    def look_at_figures(self, verdict):
        for name in ends.never_tried(verdict.figures):
            self.fail(f"of {verdict.figures['confirmed']} tasks there was no {name}")

    def look_for_password(self):
        """In all that producers, workers and this run wrote. A core file holds one, as any memory does."""
        password = re.search(r"PWD=([^;]+)", self.world.direct or "", re.IGNORECASE)
        for place, _, names in os.walk(self.world.folder) if password else ():
            for path in (os.path.join(place, name) for name in names):
                if os.path.basename(place) not in ("log", "records") or os.path.basename(path).startswith("core"):
                    continue
                with open(path, "rb") as file:
                    if any(password.group(1).encode() in line for line in file):
                        self.fail(f"the database's password stands in {path}")

    def tear_down(self):
        """Nothing that was started outlives the run, whatever happened."""
        steps = [each.kill for each in self.world.processes]
        steps += [self.look_for_password]
        steps += [self.world.proxy.close] if self.world.proxy else []
        steps += [self.world.server.remove] if self.world.server else []
        steps += [lambda fault=fault: fault.clean_up(self.world) for fault in self.faults]
        for step in steps:
            try:
                step()
            except Exception as error:
                self.fail(f"tearing down: {type(error).__name__}: {error}")

    def go(self):
        """The judge's verdict; None when it did not come to that."""
        verdict = None
        try:
            self.set_up()
            self.start_processes()
            self.world.began = time.monotonic()
            self.faults_in_turn()
            if not self.world.stopping.is_set():
                self.wind_up()
                verdict = judge.judge(self.world)
                self.look_at_figures(verdict)
        except Exception as error:
            self.fail(f"{type(error).__name__}: {error}")
        finally:
            self.tear_down()
        return verdict


def remove(folder):
    """What tools/db_up.sh made may belong to the servers' users."""
    def again(function, path, _):
        os.chmod(os.path.dirname(path), stat.S_IRWXU)
        function(path)
    shutil.rmtree(folder, onerror=again)
