"""What is measured beside what. A case is a list of steps that are run in turn, round after round; a step gives the figures of one
program. scale: of the number of tasks that was asked for. And the bars: which figure is to reach how much of which other."""
import collections

import cost as c
import measure as m
import model as predict

Step = collections.namedtuple("Step", "name run")
Bar = collections.namedtuple("Bar", "database text ours other factor")
DATABASES = ("postgres", "mariadb", "mysql", "sqlite")
CONNECTIONS = (1, 2, 4, 8, 16)
SCALES = {"postgres": 1, "mariadb": 0.2, "mysql": 0.2, "sqlite": 0.5}  # of --tasks: about the same time for each


def share(tasks, part):
    """A part of them, in whole thousands where there are some."""
    count = int(tasks * part)
    return count // 1000 * 1000 or max(1, count)


# ---- Cases: name -> steps(database name, tasks) ------------------------------------------------------------------------

def cost(_name, tasks):
    steps = []
    for what in c.GROUPS:
        steps += [Step(f"taskpool {what}", lambda d, w=what: c.taskpool(d, w, tasks)),
                  Step(f"raw {what}", lambda d, w=what: c.raw(d, w, tasks))]
    return steps


def batched(name, tasks):
    steps = [Step("taskpool enqueue", lambda d: m.enqueue(d, tasks)),
             Step("raw enqueue", lambda d: m.raw(d, "enqueue", tasks, 1)),
             Step("taskpool lease", lambda d: m.lease(d, tasks)),
             Step("raw lease", lambda d: m.raw(d, "lease", tasks, writers(name))),
             Step("taskpool hold", lambda d: m.hold(d, tasks, writers(name))),
             Step("raw hold", lambda d: m.raw(d, "hold", tasks, writers(name)))]
    if name != "postgres":
        return steps
    return steps + [Step("graphile-worker batch", lambda d: m.graphile(d, "batch", tasks, 2)),
                    Step("taskpool lease, 2 processes", lambda d: m.lease(d, tasks, 2)),
                    Step("pg-boss 500", lambda d: m.pgboss(d, share(tasks, 0.5), 500)),
                    Step("taskpool enqueue, 2 processes", lambda d: m.taskpool_side_by_side(d, tasks, 2)),
                    Step("raw enqueue, 2 clients", lambda d: m.raw(d, "enqueue", tasks, 2))]


def single(name, tasks):
    few = share(tasks, 0.1)
    counts = (1,) if name == "sqlite" else (1, 4)
    steps = []
    for count in counts:
        steps += [Step(f"taskpool one, {count}", lambda d, c=count: m.one(d, few, c)),
                  Step(f"raw one, {count}", lambda d, c=count: m.raw(d, "one", few, c))]
    steps += [Step("taskpool row", lambda d: m.row(d, share(tasks, 0.05)))]
    if name == "postgres":
        steps += [Step("graphile-worker plain", lambda d: m.graphile(d, "plain", few, 1)),
                  Step("pg-boss 1", lambda d: m.pgboss(d, share(tasks, 0.005), 1))]
    return steps


def payload(name, tasks):
    steps = []
    for size, part in ((1024, 0.2), (65536, 0.01)):
        count = share(tasks, part)
        for words in (("enqueue", m.enqueue, 1), ("lease", m.lease, writers(name)), ("hold", m.hold, writers(name))):
            steps += [Step(f"taskpool {words[0]}, {size} bytes", lambda d, w=words, c=count, s=size: w[1](d, c, size=s)),
                      Step(f"raw {words[0]}, {size} bytes", lambda d, w=words, c=count, s=size: m.raw(d, w[0], c, w[2], s))]
    return steps


def scaling(name, tasks):
    steps = []
    for count in CONNECTIONS[:3] if name == "sqlite" else CONNECTIONS:
        steps += [Step(f"taskpool hold, {count}", lambda d, c=count: m.hold(d, share(tasks, 0.5), c)),
                  Step(f"raw hold, {count}", lambda d, c=count: m.raw(d, "hold", share(tasks, 0.5), c)),
                  Step(f"taskpool one, {count}", lambda d, c=count: m.one(d, share(tasks, 0.1), c))]
    for count in (1, 2, 4):
        steps += [Step(f"taskpool lease, {count} processes", lambda d, c=count: m.lease(d, share(tasks, 0.5), c))]
    return steps


def latency(name, _tasks):
    steps = []
    for text, plan in (("", m.leased_plan), (", plan hold", lambda _: "hold")):
        steps += [Step("taskpool latency" + text, lambda d, p=plan: m.latency(d, "latency", 200, p(d))),
                  Step("taskpool latency, same process" + text, lambda d, p=plan: m.latency(d, "latency-same", 200, p(d)))]
    if name == "postgres":
        steps += [Step("graphile-worker latency", lambda d: m.graphile_latency(d, 200))]
    return steps


def model(_name, _tasks):
    """The same runs everywhere: what is predicted is no rate."""
    return [Step(f"taskpool model, {connections}, {count}", lambda d, c=connections, t=count: m.modelled(d, t, c, predict.GROUP))
            for connections, count in predict.RUNS]


CASES = {"cost": cost, "model": model, "batched": batched, "single": single, "payload": payload, "scaling": scaling, "latency": latency}


def writers(name):
    """Connections that can do something at the same time."""
    return 1 if name == "sqlite" else 2


# ---- Bars --------------------------------------------------------------------------------------------------------------

def key(measure, subject, connections=1, size=m.BYTES):
    return (measure, subject, connections, size)


def bars(name):
    raw_bars = [("enqueue", 1), ("lease", 2), ("hold", writers(name)), ("one", 1)]
    if name != "sqlite":
        raw_bars.append(("one", 4))
    factors = {"enqueue": 0.5} if name == "postgres" else {}
    texts = {"enqueue": "enqueue many", "lease": "run, leased plan", "hold": "run, plan hold", "one": "one task a transaction"}
    found = []
    for what, count in raw_bars:
        other = key(what, "raw", writers(name) if what == "lease" else count)
        found.append(Bar(name, f"{texts[what]}, {plural(count)}: raw", key(what, "taskpool", count), other,
                         factors.get(what, 0.8)))
    return found + (rival_bars() if name == "postgres" else [])


def rival_bars():
    batch, plain = key("run", "graphile-worker batch", 2), key("run", "graphile-worker plain", 1)
    return [Bar("postgres", "enqueue many, 1 connection: graphile-worker, batches", key("enqueue", "taskpool"),
                key("enqueue", "graphile-worker batch"), 1.5),
            Bar("postgres", "run, leased plan, 2 processes, finished rows kept: graphile-worker batch, 2 processes, which deletes",
                key("lease", "taskpool", 4), batch, 2),
            Bar("postgres", "run, plan hold, 2 connections, finished rows kept: graphile-worker batch, 2 processes, which deletes", key("hold", "taskpool", 2), batch, 3),
            Bar("postgres", "one task a transaction, 4 connections: graphile-worker plain", key("one", "taskpool", 4), plain, 3)]


def plural(count):
    return "1 connection" if count == 1 else f"{count} connections"
