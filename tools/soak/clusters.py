"""The command line of tools/clusters.sh: each cluster with each plan, one after the other, and a table at the end."""
import argparse
import collections
import json
import os
import random
import signal
import statistics
import sys
import tempfile
import time

import judge
import kinds
import process
import run

PLANS = kinds.Cluster.plans
RECOVER_S = 120
CLIENTS_S = 30  # for the workers whose node is back  # a kill after which some worker settles nothing for so long is a failure
CALM_S = 2       # before each kill
COLUMNS = ("cluster", "plan", "seconds", "kills", "acknowledged", "lost", "twice", "stuck", "settled a second", "conflicts a task", "lost claims",
           "next effect, p50", "max", "by a client of the node, p50", "max")

HELP_END = """
three processes put tasks in, also in groups (but where an asynchronous copy may lose a part of one), and three, of three threads each, work; on all nodes where all take writes. again and again a node is killed (SIGKILL):
any (galera, whose clients have one node each; galera-lists, where they know all), the one that takes writes (group; streaming and asynchronous, where the standby is promoted at once), the server or the pooler
(pgbouncer); it is brought back as soon as the others work. the judge trusts the producers' own lists and the tables that handlers write in their tasks' transactions.

columns: lost: acknowledged tasks and orders that are not there, and effects without their task's end or the other way about; only asynchronous
may lose, whole transactions. twice: effects in the task's own transaction that are there twice. stuck: tasks that no worker ends. next effect: from the kill to
the first effect after the longest silence of all workers, and of each worker whose server was killed. conflicts: transactions that were
refused because another node's came first.

exit code: 0 all is well, 1 something was lost, twice, stuck or otherwise wrong, 2 wrong command line, 77 nothing could be run here.
"""


class Heard(process.Heard):
    """When it was that each worker settled a task."""

    def __init__(self):
        super().__init__()
        self.times = collections.defaultdict(list)

    def line(self, line, process):
        now, before = time.monotonic(), self.settled
        super().line(line, process)
        if self.settled > before:
            self.times[process.name].append(now)


def end_of_silence(times, kill):
    """Of the longest one that ended after the kill, in seconds from it."""
    gaps = [(b - a, b - kill) for a, b in zip(times, times[1:]) if b > kill]
    return max(gaps)[1] if gaps else None


class Run(run.Run):
    def __init__(self, kind, plan, folder, seed, kills, pace, build):
        super().__init__(kind, folder, seed, 0, [], build)
        self.plan = plan
        self.kills, self.pace = kills, pace
        self.world.heard = Heard()
        self.cluster = None
        self.silences, self.clients_silences = [], []
        self.seconds = 0
        self.conflicts = "-"

    def set_up_server(self):
        world = self.world
        world.server = self.cluster = kinds.KINDS[self.database](self.database, world)
        world.direct = self.cluster.dsn(0)
        world.client = self.cluster.client(1)
        wrong = self.cluster.judge_doctor(self.plan)
        if wrong:
            self.fail(wrong)
        self.cluster.prepare()

    def add(self, kind, name, words, proxied, plan=None):
        dsn = f"{self.cluster.dsn(len(self.world.processes))};Plan={self.plan}"
        self.world.processes.append(process.Process(self.world, kind, name, dsn, words, plan=plan))

    def start_processes(self):
        world, soak = self.world, self.program()
        groups = ["--groupless"] if self.cluster.may_lose else []
        for i in range(3):
            self.add("producer", f"producer{i}", [soak, "producer", "--name", f"p{i}." + "{start}", "--records", os.path.join(world.folder, "records", f"producer{i}"),
                                                  "--pause-ms", str(self.pace), "--quick", "--seed", str(world.random.randrange(10**6))] + groups, False)
        for i in range(3):
            self.add("worker", f"worker{i}", [soak, "worker", "--lease-ms", str(int(run.LEASE_S * 1000)), "--plan", self.plan,
                                              "--seed", str(world.random.randrange(10**6)), "--outside", os.path.join(world.folder, "outside")], False)
        for each in world.processes:
            each.start()
        if not self.settle(time.monotonic()):
            raise RuntimeError("no worker settles anything, before any kill")

    def settle(self, since):
        """Has a worker settled something since then? One that is quick may leave nothing for the others; a task that one of these
        keeps is found by the judge."""
        return self.world.until(lambda: self.world.heard.last_settled > since, RECOVER_S)

    def faults_in_turn(self):
        began = time.monotonic()
        for number in range(self.kills):
            if not self.world.stopping.is_set():
                self.kill(random.Random(f"{self.world.seed}/{number}"))
        self.world.wait(CALM_S)
        self.seconds = time.monotonic() - began

    def kill(self, chance):
        world, cluster = self.world, self.cluster
        world.wait(CALM_S + chance.uniform(0, 1))
        node, at = cluster.lose(chance)
        self.note(f"node {node} was killed")
        clients = cluster.clients_of(node, world.workers())
        if not self.settle(at + 0.5):
            self.fail(f"node {node} was killed, and no worker settles anything for {RECOVER_S} s")
        cluster.again(node)
        back = time.monotonic()
        self.note(f"node {node} is back")
        world.client = cluster.client(cluster.to_judge())
        if not self.settle(back):
            self.fail(f"node {node} is back, and no worker settles anything for {RECOVER_S} s")
        times = world.heard.times
        world.until(lambda: all(times[w.name] and times[w.name][-1] > back for w in clients), CLIENTS_S)
        self.silences.append(end_of_silence(sorted(t for each in times.values() for t in each), at))
        ends = [end_of_silence(times[worker.name], at) for worker in clients]
        self.clients_silences += [end for end in ends if end is not None]
        self.note(f"next effect after {self.silences[-1]:.2f} s")
        for each in world.processes:
            wrong = each.tend()
            if wrong:
                self.fail(wrong)

    def wind_up(self):
        super().wind_up()
        conflicts = self.cluster.conflicts()
        if conflicts is not None:
            self.conflicts = f"{conflicts / max(self.world.settled(), 1):.3f}"
        wrong = self.cluster.check()
        if wrong:
            self.fail(wrong)


# ---- The table ---------------------------------------------------------------------------------------------------------

def seconds_of(silences, pick):
    known = [each for each in silences if each is not None]
    return f"{pick(known):.1f} s" if known else "-"


def row_of(done, verdict):
    heard = done.world.heard
    return dict(zip(range(len(COLUMNS)), (
        done.database, done.plan, f"{done.seconds:.0f}", str(len(done.silences)), str(verdict.figures["confirmed"]), str(verdict.count("lost", "torn")),
        str(verdict.count("twice")), str(verdict.count("stuck")), f"{heard.settled / max(done.seconds, 1):.0f}", done.conflicts, str(heard.stale),
        seconds_of(done.silences, statistics.median), seconds_of(done.silences, max),
        seconds_of(done.clients_silences, statistics.median), seconds_of(done.clients_silences, max))))


def wrong_of(done, verdict):
    """What must not be. What an asynchronous copy lacks is lost, and may be."""
    wrong = list(done.failures)
    if verdict is None:
        return wrong or ["interrupted"]
    may_be_lost = done.cluster.may_lose
    return wrong + [f.text for f in verdict.findings if f.kind != "lost" or not may_be_lost]


def line(cells):
    return "| " + " | ".join(cells) + " |"


def run_one(kind, plan, options, folder):
    """Its row, what is wrong, and whether it could be run."""
    os.mkdir(folder)
    done = Run(kind, plan, folder, options.seed, options.kills, options.pace, options.build)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda *_: done.world.stopping.set())
    verdict = done.go()
    if any(text.startswith("Missing:") for text in done.failures):
        return None, done.failures
    return (row_of(done, verdict) if verdict else None), wrong_of(done, verdict)


def read_options():
    parser = argparse.ArgumentParser(prog="tools/clusters.sh", epilog=HELP_END, add_help=False, formatter_class=argparse.RawDescriptionHelpFormatter,
                                     description="Kills nodes of clusters under producers and workers, and judges what is left.")
    parser.add_argument("--help", action="help", help="this text")
    parser.add_argument("kind", nargs="*", default=[], help=f"of {', '.join(kinds.KINDS)}; default: all")
    parser.add_argument("--plans", metavar="LIST", help="these, with commas between them; default: all that are "
                        "right there, which on galera hold is not")
    parser.add_argument("--kills", type=int, default=3, help="in each run; default 3")
    parser.add_argument("--pace", type=int, default=40, metavar="MS", help="of each producer between two acts, on the average; default 40, more than the "
                        "workers can do")
    parser.add_argument("--seed", type=int, default=None, help="a number; the default is one by chance, and is printed")
    parser.add_argument("--keep", action="store_true", help="leaves logs and records also when all is well")
    parser.add_argument("--json", metavar="FILE", help="writes the rows there too")
    parser.add_argument("--build", type=os.path.abspath, default=os.path.join(run.ROOT, "build", "release"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    for word, all_of in [(word, kinds.KINDS) for word in options.kind] + [(word, PLANS) for word in (options.plans or "skip").split(",")]:
        if word not in all_of:
            parser.error(f"no {word!r}; there are: {', '.join(all_of)}")
    if options.seed is None:
        options.seed = random.SystemRandom().randrange(10**6)
    return options


def main():
    options = read_options()
    top = tempfile.mkdtemp(prefix="taskpool-clusters.")
    os.chmod(top, 0o755)
    print(f"seed {options.seed}; logs in {top}\n{line(COLUMNS)}\n{line(['---'] * len(COLUMNS))}", flush=True)
    rows, bad, skipped = [], [], []
    for kind in options.kind or kinds.KINDS:
        for plan in options.plans.split(",") if options.plans else kinds.KINDS[kind].plans:
            row, wrong = run_one(kind, plan, options, os.path.join(top, f"{kind}-{plan}"))
            if row is None and wrong and wrong[0].startswith("Missing:"):
                skipped.append(f"SKIPPED: {kind}: {wrong[0][8:].strip()}")
                break
            if row:
                rows.append(list(row.values()))
                print(line(rows[-1]), flush=True)
            bad += [f"{kind}, {plan}: {text}" for text in wrong[:20]]
    print("\n".join(skipped + bad), file=sys.stderr)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump({"seed": options.seed, "columns": COLUMNS, "rows": rows}, file, indent=1)
    if bad or options.keep:
        print(f"logs and records are in {top}", file=sys.stderr)
        return int(bool(bad))
    run.remove(top)
    return 0 if rows else 77


if __name__ == "__main__":
    sys.exit(main())
