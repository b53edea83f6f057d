#!/usr/bin/env -S python3 -B
"""test_bench.py PATH_TO_TASKPOOL: taskpool bench on the database of TASKPOOL_DSN. What it shows can be used, and
whatever ends it, it leaves the pool as it was. Nothing here depends on how fast anything is. The proxy of the soak
cuts connections."""
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile

from pool import BASE, PREFIX, TASKPOOL, check, end, listed, main, run, start, until

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../../tools/soak"))
import proxy

ENTRY = os.environ.get("TASKPOOL_TEST_ENTRY")
ALL = "enqueue-one,enqueue-many,claim,settle,life,latency,latency-same,idle"
SMALL = ("--tasks=60", "--singles=5", "--samples=3", "--put=25", "--batch=40", "--group=7", "--threads=2",
         "--poll=20ms", "--pause=1ms", "--idle-time=100ms")
ENDLESS = ("--measure=enqueue-one", "--singles=100000000")
BENCH = "taskpool-bench-"
WORK = {"tasks", "seconds", "tasks_per_second", "statements_per_task", "round_trips_per_task", "commits_per_task",
        "client_cpu_us_per_task"}
WAIT = {"samples", "p50_ms", "p95_ms", "p99_ms", "max_ms", "enqueue_p50_ms", "after_enqueue_p50_ms", "after_enqueue_p99_ms"}
IDLE = {"seconds", "statements_per_second", "round_trips_per_second", "client_cpu_us_per_second"}


def small(*options):
    """These, and of SMALL what they do not say."""
    given = {option.split("=")[0] for option in options}
    return [option for option in SMALL if option.split("=")[0] not in given] + list(options)


def of_bench(*args):
    return [task for task in listed(*args) if task["handler"].startswith(BENCH)]


def counts():
    """How many tasks each bench has in the pools."""
    code, out, err = run("stats", "--finished", "--json")
    check("stats", code == 0, err)
    found = {}
    for stat in json.loads(out)["stats"] if code == 0 else []:
        if stat["handler"].startswith(BENCH):
            found[stat["handler"]] = found.get(stat["handler"], 0) + stat["count"]
    return found


def until_busy(benches=1):
    """So many have put in tasks, and more than the rehearsal's one, which may be counted in two pools while it moves."""
    wait_for("the bench puts tasks in", lambda: sum(count > 2 for count in counts().values()) == benches,
             lambda: f"{counts()}, {run('stats')}, {subprocess.run(['ps', 'axf'], capture_output=True, check=False).stdout[-3000:]}")


def traces():
    """What is left of benches, in all pools and in the history."""
    tasks = sum((of_bench("--pool", pool) for pool in ("pending", "finished", "failed")), [])
    events = [json.loads(line) for line in run("history", "--json", "--limit=100000")[1].splitlines()]
    return tasks, [event for event in events if (event["handler"] or "").startswith(BENCH)]


def expect_clean(name, runs):
    """Nothing but one event for each run, which says so."""
    tasks, events = traces()
    check(f"{name}: no task is left", tasks == [], tasks[:2])
    check(f"{name}: one event tells of each run", [event["event"] for event in events] == ["purged"] * runs, events)
    witness = listed("--handler=witness")
    check(f"{name}: another's task is as it was", [task["state"] for task in witness] == ["pending"], witness)
    run("purge", "--pool=history", "--all")
    run("purge", "--pool=history", "--all")


def wait_for(what, true, about=lambda: ""):
    if not until(true):
        check(what, False, f"it does not come: {about()}")


def one_line(name, code, wanted, err, text):
    check(f"{name}: exit code", code == wanted, f"{code}: {err}")
    check(f"{name}: is told", re.fullmatch(f"taskpool: .*({text}).*\n", err), err)


def test_mistakes():
    for option, text in (("--tasks=0", "--tasks must be a whole number"), ("--batch=1001", "--batch must be"),
                         ("--payload=-1", "--payload must be"), ("--processes=65", "--processes must be"),
                         ("--measure=life,lif", '"lif" is none of the measures'), ("--poll=soon", "--poll must be"),
                         ("--idle-time=0", "--idle-time must be"), ("pay", "only --clean takes a HANDLER"),
                         ("--plan=best", "best"), ("--nonsense", "unknown option")):
        code, out, err = run("bench", option)
        one_line(option, code, 2, err, text)
        check(f"{option}: no output", out == "", out)
    code, _, err = run("bench", "--clean", "pay")
    one_line("--clean pay", code, 2, err, "takes out tasks of handlers taskpool-bench-")
    code, _, err = run("bench", TASKPOOL_DSN=f"{BASE};Prefix={PREFIX[:-1]}no_")
    check("no pool there", code == 5, err)
    expect_clean("mistakes", 0)


def expect_figures(result, plans):
    """All of its kind's figures and no others."""
    kind = IDLE if result["name"] == "idle" else WAIT if result["name"].startswith("latency") else WORK
    rest = set(result) - {"name", "plan", "round"}
    check(f"{result['name']}: figures", rest == kind, rest ^ kind)
    # A database that is a library has no round trips, and a claim of one statement no commit of its own; a handler
    # in this process may begin before the enqueue that woke its worker is back.
    zero = {"round_trips_per_task", "round_trips_per_second", "commits_per_task", "statements_per_second",
            "after_enqueue_p50_ms", "after_enqueue_p99_ms"}
    low = [key for key in kind if result[key] < 0 or (result[key] == 0 and key not in zero)]
    check(f"{result['name']}: numbers", not low, result)
    planned = result["plan"] in plans if not result["name"].startswith("enqueue") else result["plan"] is None
    check(f"{result['name']}: plan", planned, result)


def test_json():
    code, out, err = run("bench", *small("--json", "--rounds=1", f"--measure={ALL}"))
    check("json: exit code", code == 0 and err == "", f"{code}: {err}")
    check("json: one line", out.count("\n") == 1, out[:200])
    answer = json.loads(out)
    plans = answer["settings"]["plans"]
    wanted = {(name, plan) for name in ALL.split(",") for plan in (plans if name[:7] != "enqueue" else [None])}
    check("json: medians of all", {(r["name"], r["plan"]) for r in answer["medians"]} == wanted, answer["medians"])
    check("json: one round", [{**r, "round": 1} for r in answer["medians"]] == answer["results"], answer["results"])
    for result in answer["results"] + answer["medians"]:
        expect_figures(result, plans)
        if result["name"].startswith("latency"):
            check("json: after the enqueue is a part", result["after_enqueue_p99_ms"] <= result["max_ms"], result)
    check("json: settings", answer["settings"]["measures"] == ALL.split(",")
          and answer["settings"]["payload_bytes"] == 32 and answer["settings"]["poll_ms"] == 20, answer["settings"])
    check("json: where", all(answer[key] for key in ("database", "driver", "driver_version", "dialect", "cpus")),
          answer)
    # A rehearsal, and what the measures say; claim and settle share theirs, and latencies warm up.
    tasks = 1 + (5 + 60 + len(plans) * (60 + 60 + 2 * 13))
    check("json: took out what it put in", answer["removed_tasks"] == tasks, f"{answer['removed_tasks']} {tasks}")
    statements = {r["name"]: r["statements_per_task"] for r in answer["medians"] if "statements_per_task" in r}
    check("json: one by one costs more statements", statements["enqueue-one"] > statements["enqueue-many"], statements)
    check("json: the worker's statements count", statements["life"] >= 0.02, statements)
    expect_clean("json", 1)


def test_medians():
    code, out, err = run("bench", *small("--json", "--rounds=3", "--measure=enqueue-many"))
    answer = json.loads(out) if code == 0 else {"results": [], "medians": [{}]}
    check("three rounds", [r["round"] for r in answer["results"]] == [1, 2, 3], f"{code}: {out}{err}")
    for key in WORK:
        numbers = sorted(r[key] for r in answer["results"])
        check(f"median: {key}", numbers[1:2] == [answer["medians"][0].get(key)], out)
    expect_clean("three rounds", 1)


def test_ways():
    """Other forms of it, each with its table."""
    for name, options, text in (
            ("a table", ("--measure=settle",), r"settle +\S+ +60 +\d+ "),
            ("processes", ("--measure=life", "--processes=3"), r"life +\S+ +60 +\d+ "),
            ("transactions", ("--measure=life", "--transactions", "--group=1", "--tasks=20"), r"life +\S+ +20 +\d+ "),
            ("long parameters", ("--measure=claim,life", "--payload=20000", "--tasks=20"), r"claim +\S+ +20 +\d+ "),
            ("a plan", ("--measure=claim,life", "--plan=cas"), r"life +cas +60 +\d+ ")):
        code, out, err = run("bench", *small("--rounds=1", *options))
        check(name, code == 0 and re.search(text, out) and err == "", f"{code}: {out}{err}")
        expect_clean(name, 1)
    code, out, err = run("bench", *small("--measure=claim", "--plan=hold,sleep"))
    check("a plan that is none", code == 2 and out == "", f"{code}: {err}")


def pids_of(process):
    """Its children, the processes of the bench."""
    with open(f"/proc/{process.pid}/task/{process.pid}/children", encoding="ascii") as file:
        return [int(pid) for pid in file.read().split()]


def is_gone(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as file:
            return file.read().rsplit(")", 1)[1].split()[0] == "Z"
    except OSError:
        return True


def test_interrupted():
    """As a terminal or a supervisor does it: each of its processes gets the signal."""
    for number, options in ((signal.SIGINT, ENDLESS),
                            (signal.SIGTERM, ("--measure=latency", "--samples=1000000", "--pause=10ms", "--poll=20ms"))):
        process = start("bench", *options)
        until_busy()
        children = pids_of(process)
        for child in children:
            os.kill(child, number)
        process.send_signal(number)
        code, out, err = end(process)
        one_line(f"{number.name}", code, 130, err, "interrupted; what was put in was taken out again")
        check(f"{number.name}: no figures", out == "", out)
        check(f"{number.name}: no process is left", all(map(is_gone, children)), children)
        expect_clean(f"{number.name}", 1)


def test_killed():
    """Nobody takes out what it left, until somebody asks for it."""
    for benches in 1, 2:
        process = start("bench", *ENDLESS)
        until_busy(benches)
        process.kill()
        end(process)
    handlers = sorted(counts())
    check("two runs were killed", len(handlers) == 2, handlers)
    code, out, err = run("bench", "--clean", handlers[0])
    check("--clean of one", code == 0 and re.fullmatch(r"took out [1-9]\d*\n", out), f"{code}: {out}{err}")
    check("--clean of one leaves the other", set(counts()) == {handlers[1]}, handlers)
    code, out, err = run("bench", "--clean", "--json")
    check("--clean", code == 0 and json.loads(out)["removed_tasks"] > 0, f"{code}: {out}{err}")
    expect_clean("--clean", 2)
    code, out, _ = run("bench", "--clean")
    check("--clean of nothing", code == 0 and out == "took out 0\n", f"{code}: {out}")


def through(port):
    return re.sub(r"Port=\d+", f"Port={port}", f"{BASE};Prefix={PREFIX}")


def new_proxy():
    return proxy.Proxy("127.0.0.1", int(re.search(r"Port=(\d+)", BASE).group(1)))


def test_lost():
    """The connection of the calls, of a worker here, and of one in another process."""
    between = new_proxy()
    for name, options in (("calls", ENDLESS), ("worker", ("--measure=idle", "--idle-time=1h", "--poll=20ms")),
                          ("other process", ("--measure=latency", "--samples=100000", "--pause=50ms", "--poll=20ms"))):
        process = start("bench", *options, TASKPOOL_DSN=through(between.port))
        if name == "worker":
            wait_for("a worker connects, after the rehearsal", lambda: traces()[1] and between.count() >= 2)
        else:
            until_busy()
        between.cut()
        code, out, err = end(process)
        one_line(f"lost: {name}", code, 4, err.splitlines(True)[0], ".")
        check(f"lost: {name}: no figures", out == "", out)
        expect_clean(f"lost: {name}", 1)
    between.close()


def test_gone():
    """The server does not come back in time."""
    between = new_proxy()
    process = start("bench", *ENDLESS, TASKPOOL_DSN=through(between.port))
    until_busy()
    between.refuse(True)
    between.cut()
    code, _, err = end(process)
    check("a server that is gone", code == 4, f"{code}: {err}")
    said = re.search(r"take them out with taskpool bench (--clean) (taskpool-bench-\S+)\n", err)
    check("says how to take out what is left", said, err)
    if said:
        check("which does", run("bench", *said.groups())[0] == 0)
        expect_clean("a server that is gone", 1)
    between.close()


def test_raw():
    """What tools/bench.sh compares with knows all parameters of the statements. Over SQLite test_bench.sh runs it."""
    program = os.path.join(os.path.dirname(TASKPOOL), "tools", "raw_mariadb")
    target = re.sub(r".*Port=(\d+).*UID=(\w+).*Database=(\w+).*", r"127.0.0.1:\1:\2:\3", BASE)
    env = {**os.environ, "RAW_PASSWORD": os.environ["TASKPOOL_TEST_PASSWORD"]}
    for measure in ("lease", "hold"):
        for words in (("enqueue",), (measure,)):
            done = subprocess.run([program, *words, "--prefix", PREFIX, "--target", target, "--tasks=20", "--connections=1", "--bytes=8"],
                                  capture_output=True, env=env, timeout=900)
            check(f"raw: {words[0]}", done.returncode == 0 and json.loads(done.stdout)["tasks"] == 20, done.stderr.decode())


def read_proc(pid, name):
    """Empty where only root may see it."""
    try:
        with open(f"/proc/{pid}/{name}", "rb") as file:
            return file.read().decode(errors="replace")
    except PermissionError:
        return ""


def test_secret():
    """The program that is started has the connection string, and nobody can see it."""
    dsn = f"{BASE};Prefix={PREFIX}"
    for words in ((TASKPOOL, "bench", f"--dsn={dsn}"), (TASKPOOL, "bench", "--dsn", dsn), (f"{TASKPOOL}-bench", f"--dsn={dsn}")):
        process = subprocess.Popen([*words, *ENDLESS], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, env={**os.environ, "TASKPOOL_DSN": ""})
        until_busy()
        check("another program runs", read_proc(process.pid, "comm").startswith("taskpool-bench"), read_proc(process.pid, "comm"))
        for name in "cmdline", "environ":
            text = read_proc(process.pid, name)
            check(f"{name} does not show the string", PREFIX not in text, "it does")
        check("but that there is one", "xxxx" in read_proc(process.pid, "cmdline"), read_proc(process.pid, "cmdline"))
        process.terminate()
        check("ends", end(process)[0] == 130)
        expect_clean("a string on the command line", 1)
    code, _, err = run("bench", f"--dsn={dsn}", "--dsn-file=nowhere")
    one_line("two strings", code, 2, err, "exclude each other")
    code, _, err = run("bench", "--dsn-file", "Driver=x;PWD=hush")
    one_line("a string for a file", code, 2, err, "takes the name of a file")


def test_program():
    """Beside taskpool, or where it was installed to: another one along PATH is none of ours."""
    with tempfile.TemporaryDirectory() as folder:
        beside, other = (os.path.join(folder, *names, "taskpool-bench") for names in ((), ("other",)))
        os.mkdir(os.path.dirname(other))
        for path, mode in ((beside, 0o644), (other, 0o755)):
            with open(path, "w", encoding="ascii") as file:
                file.write("#!/bin/sh\necho another\n")
            os.chmod(path, mode)
        copy = shutil.copy(TASKPOOL, folder)
        env = {**os.environ, "PATH": f"{os.path.dirname(other)}:{os.environ['PATH']}", "LD_LIBRARY_PATH": os.path.dirname(TASKPOOL)}

        def expect_none(what, text):
            done = subprocess.run([copy, "bench"], capture_output=True, env=env, timeout=900)
            one_line(what, done.returncode, 7, done.stderr.decode(), text)
            check(f"{what}: no other is run", done.stdout == b"", done.stdout)

        expect_none("a program that cannot be run", f"{beside} cannot be run: Permission denied")
        os.remove(beside)
        if not os.path.exists("/usr/local/bin/taskpool-bench"):
            expect_none("no program", "taskpool-bench is missing; it belongs beside taskpool")


def test():
    run("enqueue", "witness", "here")
    run("purge", "--pool=history", "--all")
    test_mistakes()
    test_json()
    test_medians()
    test_interrupted()
    test_secret()
    test_program()
    # What more there is needs each driver once, and not each dialect over it.
    if ENTRY in ("sqlite", "postgres", "mariadb", "oracle", "mysql"):
        test_ways()
        test_killed()
        if "Port=" in BASE:
            test_lost()
        if ENTRY == "postgres":
            test_gone()
        if ENTRY in ("mariadb", "mysql"):
            test_raw()


main(test)
