#!/usr/bin/env -S python3 -B
"""test_fleet.py INSTALLER TODAY BEFORE: producers, workers and operators of two versions of taskpool(1) on one pool, which INSTALLER,
one of the two, made on the database of TASKPOOL_DSN. A payment is a line in a file: the task, and the worker whose program it was."""
import collections
import itertools
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
import uuid

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "cli"))
from pool import BASE, LIMIT_S, PREFIX, TASKPOOL, at_once, check, environment, lines, main, program, told, until  # pylint: disable=wrong-import-position

IMPORTED = 60
ENTRY = os.environ["TASKPOOL_TEST_ENTRY"]
workers = {}  # all that were started, by process number
numbers = itertools.count()


class Version:
    def __init__(self, name, path):
        self.name = name
        self.path = os.path.realpath(path)

    def run(self, *args):
        done = subprocess.run([self.path, *args], stdin=subprocess.DEVNULL, capture_output=True, env=environment({}),
                              timeout=900)
        return told(args, done.returncode, done.stdout, done.stderr)

    def retention(self, *args):
        """The command that says how long settled tasks are kept."""
        return ("keep" if self is BEFORE else "retention", *args)

    def do(self, *args, codes=(0,)):
        """What must go well; the objects it printed."""
        found, out, err = self.run(*args, "--json")
        check(f"{self.name}: {' '.join(args)}", found in codes, f"exit code {found}: {err}")
        return [json.loads(line) for line in out.splitlines() if line.startswith("{")]

    def put(self, *args):
        """The id, and whether it was put in."""
        answer = self.do("enqueue", *args)
        return (answer[0]["id"], answer[0]["inserted"]) if answer else ("", None)

    def tasks(self, pool, handler):
        return self.do("list", "--limit", "100000", "--pool", pool, "--handler", handler, codes=(0, 1))

    def work(self, handlers, *args):
        """A worker in the background; its output is in files."""
        name = f"worker-{next(numbers)}"
        retry = [] if any(arg.startswith("--retry") for arg in args) else ["--retry=50ms"]
        with open(name + ".out", "wb") as out, open(name + ".err", "wb") as err:
            process = subprocess.Popen(
                [self.path, "work", *(f"--handler={one}=./{program}" for one, program in handlers.items()),
                 *retry, "--poll=100ms", "--name", self.name, *args],
                stdin=subprocess.DEVNULL, stdout=out, stderr=err, env=environment({}))
        process.version, process.output = self, name
        workers[process.pid] = process
        return process


TODAY, BEFORE = Version("today's", sys.argv[2]), Version("0.1.0", sys.argv[3])
BOTH = [TODAY, BEFORE]
PAIRS = [(TODAY, BEFORE), (BEFORE, TODAY)]
INSTALLER, OTHER = (TODAY, BEFORE) if TODAY.path == TASKPOOL else (BEFORE, TODAY)


# ---- What they share -----------------------------------------------------------------------------------------------------------


def write_programs():
    pay = 'echo "$TASKPOOL_ID $PPID" >>paid\n'
    alive = "while kill -0 $PPID 2>/dev/null; do sleep 0.05; done\n"
    program("pay", pay)
    program("flaky", 'read -r what\ncase $what in\nfail) [ "$TASKPOOL_FAILURES" -gt 0 ] || exit 1 ;;\n'
            "give-up) exit 1 ;;\nskip) exit 100 ;;\nesac\n" + pay)
    program("pay-and-hang", pay + "echo x >>begun.$PPID\n" + alive)
    program("first-hangs", '[ ! -e "first.$TASKPOOL_ID" ] || exit 0\n: >"first.$TASKPOOL_ID"\n' + alive)
    program("waits", "echo x >>begun.$PPID\nwhile [ ! -e go.$PPID ] && kill -0 $PPID 2>/dev/null; do sleep 0.05; done\n")


def payments():
    """Of each task: the process numbers of the workers whose programs made them."""
    found = collections.defaultdict(list)
    for line in lines("paid"):
        task, worker = line.split()
        found[task].append(int(worker))
    return found


def end(worker, *signals, code=0):
    for one in signals:
        worker.send_signal(one)
    try:
        worker.wait(LIMIT_S)
    except subprocess.TimeoutExpired:
        worker.kill()
        worker.wait()
    check(f"{worker.version.name}: the worker ends", worker.returncode == code,
          f"{worker.args}: {worker.returncode}: {lines(worker.output + '.err')[-5:]}")
    return " ".join(lines(worker.output + ".out"))


def sql(text):
    """By the database's own client, as the pool's rows are; a table is named without its prefix, as {table}."""
    text = text.replace("{", PREFIX).replace("}", "")
    if ENTRY == "sqlite":
        database = BASE.split("Database=")[1].split(";")[0]
        with sqlite3.connect(database, timeout=LIMIT_S) as connection:
            rows = connection.execute(text).fetchall()
        connection.close()
        return [str(row[0]) for row in rows]
    if ENTRY == "postgres":
        client = [os.environ["TASKPOOL_TEST_PG_BIN"] + "/psql", "-XqAt", "-h", os.environ["TASKPOOL_TEST_PG_SOCKET"], "-p",
                  os.environ["TASKPOOL_TEST_PG_PORT"], "-U", "postgres", "-d", "taskpool", "-c", text]
    else:
        client = ["mariadb", "--no-defaults", "--socket=" + os.environ["TASKPOOL_TEST_MARIADB_SOCKET"], "--user=root", "-BN",
                  "taskpool_ora" if ENTRY == "oramode" else "taskpool", "-e", text]
    return subprocess.run(client, capture_output=True, check=True, timeout=LIMIT_S).stdout.decode().splitlines()


# ---- The schema ----------------------------------------------------------------------------------------------------------------


def test_schema():
    """A pool of 0.1.0 is brought up to date by today's while a worker of 0.1.0 runs; then both are installed over it once more."""
    put_in, running = [], []

    def start(version):
        handler = "schema-" + str(len(running))
        put_in.append(version.put(handler, "x")[0])
        running.append(version.work({handler: "waits"}))
        check(f"{version.name} runs", until(lambda: lines(f"begun.{running[-1].pid}")))

    start(BEFORE)
    if INSTALLER is BEFORE:
        check("today's says that tables are missing", TODAY.run("schema", "check")[0] == 5)
        code, _, err = TODAY.run("schema", "install")
        check("and makes them", code == 0, err)
    start(TODAY)
    for version in OTHER, INSTALLER:
        for what in "check", "install", "check":
            code, _, err = version.run("schema", what)
            check(f"{version.name}: schema {what}", code == 0, err)
    for worker in running:
        program(f"go.{worker.pid}", "")
        check("no task is lost", "lost 0" in end(worker, signal.SIGTERM))
    for task in put_in:
        shown = OTHER.do("show", task)
        check("tasks that ran meanwhile are done", shown and shown[0]["state"] == "done", shown)


# ---- Producers and workers -----------------------------------------------------------------------------------------------------


def random_id():
    return str(uuid.UUID(int=random.getrandbits(128), version=4))


SHAPES = [[], [""], ["x"], ["ä€😀 \n"], ["y" * 5000], ["x", "--biz-key", "b"], ["x", "--shard", "7"], ["x", "--priority", "-3"],
          ["x", "--max-failures", "2"], ["x", "--delay", "1h"], ["x", "--due-at", "2100-01-01T00:00:00Z"], ["x", "--delay", "20ms"]]


def ask_again(first, second, wait_for_end):
    """A task with an id of its producer's own is the same task for the other version: while it waits, and when it is done."""
    asked = [["asked", *shape, "--id", random_id()] for shape in SHAPES]
    for args in asked:
        check(f"{first.name} puts in {args[1:-2]}", first.put(*args)[1] is True)
        check(f"{second.name} finds it", second.put(*args)[1] is False, args[1:-2])
    key = ["asked", "x", "--delay", "1h", "--dedup-key", random_id()]
    check("a key is new", first.put(*key)[1] is True)
    check("it is there for the other", second.put(*key)[1] is False)
    wait_for_end.append((second, asked))


def import_by_both():
    """The same file at the same time."""
    with open("import.csv", "w", encoding="utf-8") as file:
        file.write("id,handler,params,biz_key,dedup_key,shard,priority,delay_ms,max_failures\n")
        for i in range(IMPORTED):
            file.write(f"{random_id()},pay,x{i},b{i % 7},{'k' + str(i) if i % 3 else ''},{i % 4},{i % 5},{i % 2 * 30},{i % 3 or ''}\n")
    answers = []
    at_once(*(lambda v=version: answers.extend(v.do("enqueue", "--file", "import.csv", "--batch", "7")) for version in BOTH))
    check("each row was put in by one of the two", sum(answer["inserted"] for answer in answers) == IMPORTED, answers)
    check("and found by the other", sum(answer["already_there"] for answer in answers) == IMPORTED, answers)


def put_by_both():
    """Keys at the same time, each by both."""
    keys, answers = [random_id() for _ in range(8)], []
    at_once(*(lambda v=version: answers.extend(v.put("keyed", "x", "--delay", "1h", "--dedup-key", key) for key in keys)
              for version in BOTH))
    check("each key is open once", sum(inserted is True for _, inserted in answers) == len(keys), answers)
    check("as the list says", len(TODAY.tasks("pending", "keyed")) == len(keys))


def put_flaky(version):
    for what in ("fail", "give-up", "skip", "ok"):
        version.put("flaky", what)


def look(version):
    for args in (["list"], ["stats", "--finished"], ["history"], ["schedule", "list"]):
        code, _, err = version.run(*args)
        check(f"{version.name}: {args}", code in (0, 1), err)


def crowd():
    """Workers of both versions by every plan. What fails is for those with leases: with plan hold an effect outside the database is
    made at least once."""
    all_handlers = {name: "pay" for name in ("pay", "asked", "tick")}
    plans = ["row", "hold"] + (["batch"] if ENTRY in ("sqlite", "postgres", "oramode") else ["skip"])
    return [version.work(all_handlers if plan == "hold" else {**all_handlers, "flaky": "flaky"}, "--plan", plan, "--threads=2",
                         "--batch=4", "--queue=2", "--schedules", "--lease=1h") for version in BOTH for plan in plans]


def check_schedule():
    """Each planned time made one task."""
    OTHER.do("schedule", "pause", "tick")
    row = next(row for row in OTHER.do("schedule", "list") if row["name"] == "tick")
    check("the ticks are done", until(lambda: sql("SELECT COUNT(*) FROM {pending} WHERE handler = 'tick'") == ["0"]))
    ticks = int(sql("SELECT COUNT(*) FROM {finished} WHERE handler = 'tick'")[0])
    check("each planned time made one task", ticks > 0 and ticks == (row["last_at"] - crowd.first_tick) // 100 + 1,
          f"{ticks}: {row}")


def check_flaky():
    done = TODAY.tasks("finished", "flaky")
    states = collections.Counter((task["state"], task["failures"]) for task in done)
    check("what failed was tried again, what was skipped is", states == {("done", 1): 2, ("done", 0): 2, ("skipped", 0): 2}, states)
    gave_up = BEFORE.tasks("failed", "flaky")
    check("what gave up is in the failed pool", [task["failures"] for task in gave_up] == [2, 2], gave_up)
    return [task["id"] for task in done if task["state"] == "done"]


def end_crowd(running):
    """Of each task: how often a worker with plan hold said that its transaction was undone and another was quicker: most on Oracle's
    stand-in, where the deletes of two groups may deadlock. Nobody else loses a task."""
    lost = collections.Counter()
    for worker in running:
        said = end(worker, signal.SIGTERM)
        if "hold" in worker.args:
            lost.update(line.split()[3] for line in lines(worker.output + ".err") if line.split()[1:2] == ["lost"])
        else:
            check("no task is lost", "lost 0" in said, f"{worker.args}: {said}")
    return lost


def test_crowd():
    asked_at_end = []
    INSTALLER.do("schedule", "add", "tick", "every 100ms", "tick", "x", "--missed", "all", "--missed-max", "1000")
    crowd.first_tick = OTHER.do("schedule", "list")[0]["next_at"]
    running = crowd()
    at_once(import_by_both, put_by_both, *(lambda v=version: put_flaky(v) for version in BOTH),
            *(lambda v=version: look(v) for version in BOTH),
            *(lambda a=first, b=second: ask_again(a, b, asked_at_end) for first, second in PAIRS))

    def all_paid():
        by = {worker for made in list(payments().values()) for worker in made}
        if not all(worker.pid in by for worker in running):
            for version in BOTH:
                version.put("pay", "x")
            return False
        return True

    check("each worker pays", until(all_paid))
    check_schedule()
    OTHER.do("schedule", "remove", "tick")
    check("all is done", until(lambda: sql("SELECT COUNT(*) FROM {pending} WHERE handler IN ('pay', 'tick', 'flaky') "
                                           "OR handler = 'asked' AND state = 'handling'") == ["0"]))
    check("what is due was asked for", until(lambda: len(TODAY.tasks("pending", "asked")) == 2 * 3))
    lost = end_crowd(running)
    for version, asked in asked_at_end:
        for args in asked:
            check("it is there when it is done", version.put(*args)[1] is False, args[1:-2])
    done = check_flaky() + [task["id"] for name in ("pay", "asked", "tick") for task in TODAY.tasks("finished", name)]
    made = payments()
    check("every payment is of a task that is done", sorted(made) == sorted(done), set(made) ^ set(done))
    twice = [(task, by) for task, by in made.items() if len(by) != 1 + lost[task]]
    check("every payment was made once, and once more for each transaction that was undone", not twice, twice[:5])


# ---- Workers that are killed ---------------------------------------------------------------------------------------------------


def take_over(victim, taker, plan, handler):
    """A worker of one version is killed; one of the other makes what it left, once more."""
    tasks = [taker.put(handler, "x")[0] for _ in range(3)]
    killed = victim.work({handler: "pay-and-hang"}, "--lease=1m", "--threads=2", *plan)
    check(f"{victim.name}: it runs", until(lambda: lines(f"begun.{killed.pid}")))
    end(killed, signal.SIGKILL, code=-signal.SIGKILL)
    sql(f"UPDATE {{pending}} SET due_at = due_at - 61000 WHERE handler = '{handler}' AND state = 'handling'")  # its leases are over
    worker = taker.work({handler: "pay"}, "--drain")
    check("no task is lost", "done 3" in end(worker))
    made = payments()
    for task in tasks:
        by = made[task]
        check(f"{taker.name} takes over from {victim.name}", by.count(worker.pid) == 1, by)
        # A program whose worker is killed while it begins has another parent, that takes in orphans.
        others = [pid for pid in by if pid != worker.pid]
        check("nobody else pays but who was killed",
              len(others) <= 1 and all(pid == killed.pid or pid not in workers for pid in others), by)
        failures = victim.do("show", task)[0]["failures"]
        events = [event["event"] for event in taker.do("history", task, codes=(0 if failures else 1,))]
        check("what lapsed counts as a failure", events == ["lapsed"] * failures, events)
    return sum(victim.do("show", task)[0]["failures"] for task in tasks)


def test_killed():
    """With plan hold the database frees the tasks, and no failure is counted; a worker that knows of that death claims by leases."""
    lapses = []
    at_once(*(lambda a=victim, b=taker, i=i: lapses.append(take_over(a, b, [], f"lapse-{i}"))
              for i, (victim, taker) in enumerate(PAIRS)))
    check("leases lapsed", len(lapses) == 2 and all(lapses), lapses)
    check("nothing lapsed", take_over(INSTALLER, OTHER, ["--plan=hold"], "hold") == 0)
    take_over(OTHER, INSTALLER, ["--plan=hold"], "hold-after")


# ---- Operators -----------------------------------------------------------------------------------------------------------------


def operate_failed(first, second, handler):
    task, other = (first.put(handler, "give-up")[0] for _ in range(2))
    end(first.work({handler: "flaky"}, "--retry=none", "--drain"), code=8)
    check("the failed pool", len(second.tasks("failed", handler)) == 2)
    check("retry", second.do("retry", "--id", task, "--why", "again")[0]["done"] == 1)
    check("its failures", first.do("show", task)[0]["failures"] == 0)
    check("skip", first.do("skip", "--id", task, "--why", "not wanted")[0]["done"] == 1)
    check("skip", second.do("skip", "--id", other, "--why", "not wanted")[0]["done"] == 1)
    check("it is skipped", second.do("show", task)[0]["state"] == "skipped")
    events = [event["event"] for event in first.do("history", task)]
    check("its history", events == ["failed", "retried", "skipped"] or events[1:] == ["retried", "skipped"], events)
    check("purge", first.do("purge", "--id", task)[0]["done"] == 1)
    second.do("show", task, codes=(1,))


def operate_paused(first, second, handler):
    check("pause", first.do("pause", handler, "--why", "closed")[0]["changed"])
    check("the other sees it", handler in second.run("pause")[1])
    task, other = second.put(handler, "x")[0], second.put(handler + "-open", "x")[0]
    worker = second.work({handler: "pay", handler + "-open": "pay"})
    check("others are claimed", until(lambda: payments()[other]))
    check("a paused one is not", not payments()[task])
    check("resume", second.do("resume", handler)[0]["changed"])
    check("it goes on", until(lambda: payments()[task]))
    end(worker, signal.SIGTERM)
    check("it is not paused any more", handler not in first.run("pause")[1])


def operate_release(first, second, handler):
    task = first.put(handler, "x")[0]
    worker = first.work({handler: "first-hangs"}, "--lease=1m")
    check("it runs", until(lambda: os.path.exists("first." + task)))
    check("release", second.do("release", "--id", task, "--why", "it hangs")[0]["done"] == 1)
    check("it is done by the next claim", until(lambda: first.do("show", task)[0]["state"] == "done"))
    check("a release is no failure", second.do("show", task)[0]["failures"] == 0)
    check("its history", [event["event"] for event in first.do("history", task)] == ["released"])
    check("the claim was lost", until(lambda: "lost" in " ".join(lines(worker.output + ".err"))))
    check("it counts as lost", "lost 1" in end(worker, signal.SIGTERM))


def operate_retention(first, second):
    first.do(*first.retention("finished", "90d"))
    shown = second.run(*second.retention("--json"))
    check("kept as long for both", "7776000000" in shown[1], shown)
    second.do(*second.retention("finished", "forever"))


def test_operators():
    for first, second in PAIRS:
        operate_retention(first, second)
    at_once(*(lambda a=first, b=second, i=i, one=one: one(a, b, f"{one.__name__[8:]}-{i}") for i, (first, second) in enumerate(PAIRS)
              for one in (operate_failed, operate_paused, operate_release)))


# ---- Workers that stop ---------------------------------------------------------------------------------------------------------


def state_of(worker):
    return sql(f"SELECT state FROM {{worker}} WHERE pid = {worker.pid}")


def pass_by(version):
    """A worker that tells of itself, takes others for dead and ends."""
    end(version.work({"nothing": "pay"}, "--drain"))


def taken_for_dead(worker, by):
    """It counts as not heard of for a minute."""
    sql(f"UPDATE {{worker}} SET seen_at = seen_at - 61000 WHERE pid = {worker.pid}")
    pass_by(by)
    return state_of(worker) == ["died"]


def test_stopping():
    """A worker of today that stops is shown as such. One of 0.1.0 goes on as if it were running; both end."""
    stopping = {}
    for version, state in (TODAY, "stopping"), (BEFORE, "running"):
        version.put("stopping-" + state, "x")
        worker = version.work({"stopping-" + state: "waits"})
        check("it runs", until(lambda w=worker: lines(f"begun.{w.pid}")))
        stopping[version] = worker
        worker.send_signal(signal.SIGTERM)
        check(f"{version.name}: it is shown as {state}", until(lambda w=worker, s=state: state_of(w) == [s]), state_of(worker))
    for version in BOTH:
        pass_by(version)
        check(f"{version.name} leaves both", [state_of(stopping[one]) for one in BOTH] == [["stopping"], ["running"]])
    check("0.1.0 takes nobody for dead that stops", not taken_for_dead(stopping[TODAY], BEFORE))
    check("today's does", until(lambda: taken_for_dead(stopping[TODAY], TODAY)))
    for worker in stopping.values():
        program(f"go.{worker.pid}", "")
        check("its task is done", "done 1" in end(worker))
        check("it has ended", state_of(worker) == ["ended"], state_of(worker))


# ---- What only today's knows ---------------------------------------------------------------------------------------------------


def drain(version, handler):
    """Does what is due, in the order of priorities; --drain of 0.1.0 would wait for the others. How many that were."""
    last = version.put(handler, "x", "--priority", "9")[0]
    worker = version.work({handler: "pay"}, "--threads=1")
    check(f"{version.name} works", until(lambda: version.do("show", last)[0]["state"] == "done"))
    return int(end(worker, signal.SIGTERM).split("done ")[1].split()[0].rstrip(",")) - 1


def gated():
    """0.1.0 does no more than what is let through, and lets nothing through; maintenance of today's finds that."""
    TODAY.do("gate", "set", "fleet", "--width", "2")
    for args in ["--gate", "fleet"], ["--order-key", "fleet"]:
        for _ in range(3):
            TODAY.put("gated-" + args[0][2:], "x", *args)
    check("0.1.0: as many as the gate is wide", drain(BEFORE, "gated-gate") == 2)
    check("0.1.0: one of a key", drain(BEFORE, "gated-order-key") == 1)
    check("0.1.0: none comes after it", drain(BEFORE, "gated-order-key") == 0)
    worker = TODAY.work({"gated-gate": "pay", "gated-order-key": "pay"})
    check("today's goes on", until(lambda: sql("SELECT COUNT(*) FROM {pending} WHERE handler LIKE 'gated-%'") == ["0"]))
    check("nothing is lost", "done 3" in end(worker, signal.SIGTERM))


def grouped():
    """0.1.0 does tasks of a group, and nothing of what is after it; today's ends it."""
    TODAY.do("group", "open", "fleet")
    TODAY.put("after", "x", "--after", "fleet")
    for _ in range(2):
        TODAY.put("grouped", "x", "--group", "fleet")
    TODAY.do("group", "close", "fleet")
    check("0.1.0: what is after it waits", drain(BEFORE, "after") == 0)
    check("0.1.0: its tasks", drain(BEFORE, "grouped") == 2)
    check("0.1.0: it has not ended", drain(BEFORE, "after") == 0)
    TODAY.do("group", "end")
    check("0.1.0: what is after it", drain(BEFORE, "after") == 1)


def cancelled_in_hand(handler, ends):
    """Today's asks; 0.1.0, which does not know, goes on to its end."""
    program("go-on", "echo x >>begun.$PPID\nwhile [ ! -e go.$PPID ] && kill -0 $PPID 2>/dev/null; do sleep 0.05; done\nexit " + str(ends))
    task = TODAY.put(handler, "x")[0]
    worker = BEFORE.work({handler: "go-on"}, "--retry=1h")
    check("0.1.0 has it", until(lambda: lines(f"begun.{worker.pid}")))
    check("asked", TODAY.do("cancel", "--id", task, "--why", "not wanted")[0]["answer"] == "asked")
    worker.send_signal(signal.SIGTERM)
    program(f"go.{worker.pid}", "")
    end(worker)
    return task


def cancelled():
    task = TODAY.put("cancelled", "x")[0]
    check("what waits is skipped", TODAY.do("cancel", "--id", task, "--why", "not wanted")[0]["answer"] == "skipped")
    check("0.1.0 does not do it", drain(BEFORE, "cancelled") == 0 and BEFORE.do("show", task)[0]["state"] == "skipped")
    check("what it did is done", TODAY.do("show", cancelled_in_hand("cancelled-done", 0))[0]["state"] == "done")
    task = cancelled_in_hand("cancelled-failed", 1)
    worker = TODAY.work({"cancelled-failed": "pay"})
    check("what it failed is skipped", until(lambda: BEFORE.do("show", task)[0]["state"] == "skipped"))
    end(worker, signal.SIGTERM)
    check("and never run again", not payments()[task])


def results():
    """What 0.1.0 does has no result; one of today's is no trouble to it."""
    program("gives-back", 'echo receipt >&"${TASKPOOL_RESULT_FD:-1}"\n')
    tasks = [TODAY.put("results", "x")[0] for _ in range(2)]
    check("0.1.0", end(BEFORE.work({"results": "gives-back"}, "--drain")) != "")
    check("done without one", [TODAY.do("show", task)[0].get("result") for task in tasks] == [None, None])
    task = TODAY.put("results", "x")[0]
    end(TODAY.work({"results": "gives-back"}, "--drain"))
    check("today's has it", TODAY.do("show", task)[0]["result"] == "receipt")
    check("0.1.0 shows the task", BEFORE.do("show", task)[0]["state"] == "done")
    check("and deletes it", BEFORE.do("purge", "--id", task)[0]["done"] == 1 and TODAY.run("show", task)[0] == 1)


def test_of_today():
    for one in gated, grouped, cancelled, results:
        one()


# ---- All -----------------------------------------------------------------------------------------------------------------------


def test():
    write_programs()
    for name, one in [pair for pair in globals().items() if pair[0].startswith("test_")]:
        begun = time.monotonic()
        try:
            one()
        except Exception as error:  # pylint: disable=broad-except
            check(name, False, repr(error))
        print(f"{name}: {time.monotonic() - begun:.1f} s", flush=True)
    for version in BOTH:
        found = version.do("check", *["--rows"] * (version is TODAY))
        check(f"{version.name}: check finds nothing", all(one["ok"] for one in found), [one for one in found if not one["ok"]])
    for worker in workers.values():
        worker.kill()
        worker.wait()


if __name__ == "__main__":
    main(test)
