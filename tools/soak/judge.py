"""What must be true when all is over, from the tables, the producers' records and the outside file alone. Knows no
fault; run.py says by their times which fault a finding belongs to. Groups, cancels and deadlines are in ends.py."""
import collections
import glob
import os

import ends

# Queries that every database here understands. Ids come as text.
TASKS = ("SELECT id, handler, state, shard, biz_key, settled_at, params, " + ends.WHY + " FROM tp_{pool}",
         "SELECT id, handler, state, shard, biz_key, 0, params, '' FROM tp_pending")
LEDGER = "SELECT kind, task_id, biz FROM soak_ledger"
ORDERS = "SELECT task_id, biz FROM soak_order"
ORDERED = "1"  # the shard of tasks that came with an order

Task = collections.namedtuple("Task", "pool handler state shard biz at params why")


class Finding:
    """Something that must not be. kind: lost (it was confirmed), stuck (still open), torn (a task without its effect or order, or the other way
    about), twice, other."""

    def __init__(self, kind, text, at):
        self.kind = kind
        self.text = text
        self.at = at  # seconds since 1970, or None


class Verdict:
    def __init__(self):
        self.findings = []
        self.outside_twice = []  # times
        self.figures = {}

    def find(self, kind, text, at=None):
        self.findings.append(Finding(kind, text, at))

    def count(self, *kinds):
        return sum(1 for finding in self.findings if finding.kind in kinds)


def made_at(task_id):
    """Ids begin with the time at which the producer made them, in milliseconds."""
    return int(task_id.replace("-", "")[:12], 16) / 1000


def read_tasks(client, verdict):
    tasks = {}
    for pool in ("pending", "finished", "failed"):
        query = TASKS[1] if pool == "pending" else TASKS[0].format(pool=pool)
        for task_id, handler, state, shard, biz, at, params, why in client.stream(query):
            task_id = task_id.lower()
            if task_id in tasks:
                verdict.find("twice", f"task {task_id} is in the pools {tasks[task_id].pool} and {pool}", int(at) / 1000)
            tasks[task_id] = Task(pool, handler, state, shard, biz, int(at) / 1000, params, why)
    return tasks


def read_records(folder):
    """From word (tools/soak/program/producer.h) to ids and names of groups."""
    records = collections.defaultdict(list)
    for path in sorted(glob.glob(os.path.join(folder, "records", "*"))):
        with open(path, encoding="ascii") as file:
            for line in file:
                words = line.split()
                if line.endswith("\n") and len(words) == 2:  # the last may be half, when its producer was killed
                    records[words[0]].append(words[1])
    return records


def judge_confirmed(tasks, records, verdict):
    for word in ("ok", "order"):
        for task_id, times in collections.Counter(records[word]).items():
            if task_id not in tasks:
                verdict.find("lost", f"task {task_id} was confirmed and is in no pool", made_at(task_id))
            if times > 1:
                verdict.find("other", f"task {task_id} was confirmed {times} times", made_at(task_id))
    for task_id, task in tasks.items():
        if task.pool == "pending":
            verdict.find("stuck", f"task {task_id} ({task.handler}, {task.state}) is still open", made_at(task_id))


def judge_ledger(client, tasks, verdict):
    """A task that is done has exactly one line, any other none; a key of tp_once has one."""
    lines, keys = collections.Counter(), collections.Counter()
    for kind, task_id, biz in client.stream(LEDGER):
        lines[task_id] += 1
        if kind == "once":
            keys[biz] += 1
    for task_id, task in tasks.items():
        count = lines.pop(task_id, 0)
        must = 1 if task.handler != "note" and task.state == "done" else 0
        if count > must:
            verdict.find("twice", f"task {task_id} ({task.handler}, {task.state}) has {count} lines in the ledger, "
                         f"not {must}", task.at)
        elif count < must:
            verdict.find("torn", f"task {task_id} ({task.handler}) is done, and its line in the ledger is missing",
                         task.at)
    for task_id, count in lines.items():
        verdict.find("other", f"{count} lines in the ledger for {task_id}, which is in no pool", made_at(task_id))
    for biz, count in keys.items():
        if count > 1:
            verdict.find("twice", f"the key {biz} was used {count} times")


def judge_orders(client, tasks, records, verdict):
    """Order and task are both there, or neither."""
    orders = collections.Counter(task_id for task_id, _ in client.stream(ORDERS))
    ordered = {task_id for task_id, task in tasks.items() if task.shard == ORDERED}
    for task_id, count in orders.items():
        if count > 1:
            verdict.find("twice", f"{count} orders for task {task_id}", made_at(task_id))
        if task_id not in ordered:
            verdict.find("torn", f"an order without its task {task_id}", made_at(task_id))
    for task_id in ordered - orders.keys():
        verdict.find("torn", f"task {task_id} without its order", made_at(task_id))
    for task_id in set(records["order"]) - orders.keys():
        verdict.find("lost", f"the order of task {task_id} was confirmed and is not there", made_at(task_id))
    verdict.figures["orders"] = len(orders)


def judge_outside(folder, tasks, verdict):
    """At least once; what came more often is counted."""
    lines = collections.Counter()
    path = os.path.join(folder, "outside")
    if os.path.exists(path):
        with open(path, encoding="ascii") as file:
            lines.update(line.strip() for line in file)
    for task_id, task in tasks.items():
        if task.handler == "note" and task.state == "done" and lines[task_id] == 0:
            verdict.find("torn", f"task {task_id} (note) is done without its effect outside", task.at)
        if lines[task_id] > 1:
            verdict.outside_twice += [task.at or None] * (lines[task_id] - 1)
    verdict.figures["outside"] = sum(lines.values())


def judge_check(world, verdict):
    """taskpool check has nothing to say."""
    done = world.command(os.path.join(world.build, "taskpool"), "check", "--rows", "--quiet",
                         env={**os.environ, "TASKPOOL_DSN": world.direct})
    if done.returncode != 0:
        verdict.find("other", f"taskpool check: exit code {done.returncode}: {done.stdout.strip()}")


def judge_gates(client, verdict):
    """Nothing is behind any gate when all tasks have ended, and those that patterns made are gone."""
    for places, in client.stream("SELECT COUNT(*) FROM tp_gate_task"):
        if int(places):
            verdict.find("other", f"{places} places at gates are left")
    for name, through in client.stream("SELECT name, let_through FROM tp_gate WHERE let_through <> 0 OR name LIKE '=_%'"):
        verdict.find("other", f"gate {name} is left and counts {through}")


def judge(world):
    verdict = Verdict()
    tasks = read_tasks(world.client, verdict)
    records = read_records(world.folder)
    judge_confirmed(tasks, records, verdict)
    judge_ledger(world.client, tasks, verdict)
    judge_orders(world.client, tasks, records, verdict)
    judge_outside(world.folder, tasks, verdict)
    judge_check(world, verdict)
    judge_gates(world.client, verdict)
    ends.judge(world.client, tasks, records, verdict)
    for state in ("done", "skipped", "failed"):
        verdict.figures[state] = sum(1 for task in tasks.values() if task.state == state)
    verdict.figures["confirmed"] = len(records["ok"]) + len(records["order"])
    verdict.figures["tasks"] = len(tasks)
    return verdict
